"""Plays a lesson on the simulator: its solutions reach its checks, its wrong answers do not, and its answers
are true."""

from pathlib import Path

from schedviz.lessons import evaluate
from schedviz.lessons.choose_hint import find_own_hint
from schedviz.lessons.conditions import condition
from schedviz.lessons.lesson import Action, Lesson, Step, StepCheck
from schedviz.lessons.mistakes import Mistake, YamlFile
from schedviz.lessons.offline import NotReached, OfflineSandbox
from schedviz.lessons.progress import Progress
from schedviz.lessons.read_lesson import FILE
from schedviz.lessons.result import Result, result_of
from schedviz.lessons.situation import Situation, situation_of
from simulator.apiserver.status import StatusError


def find_play_mistakes(lesson: Lesson, folder: Path) -> list[Mistake]:
    """Return the mistakes that playing the lesson in a folder shows, with their lines in ``lesson.yaml``."""
    file = YamlFile(folder / FILE, (folder / FILE).read_text())
    if _play_solutions(lesson, file):
        for number, step in enumerate(lesson.steps):
            for index, check in enumerate(step.checks):
                _play_wrong(lesson, number, check, f"steps[{number}].checks[{index}]", file)
    return sorted(file.mistakes, key=lambda mistake: mistake.line)


class _Play:
    """A learner who plays actions."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.sandbox = OfflineSandbox(lesson)
        self.progress = evaluate.begin(lesson, lesson.name, self.sandbox.meta().created, 0)

    def situation(self) -> Situation:
        return situation_of(self.sandbox, self.progress)

    def look(self) -> None:
        """Evaluate the present step, as the page does after each change."""
        self.progress = evaluate.evaluate(self.lesson, self.progress, self.situation(), 0)

    def go_to(self, step: int) -> None:
        self.progress = evaluate.go_to_step(self.lesson, self.progress, step, 0)
        self.look()

    def play(self, actions: list[Action], path: str, file: YamlFile) -> bool:
        """Play actions; False = one of them cannot be played, which is a mistake."""
        for index, action in enumerate(actions):
            if action.guess is not None:
                self.progress = evaluate.guess(self.lesson, self.progress, action.guess, 0)
            try:
                self.sandbox.play(action, self.look)
            except (StatusError, NotReached) as error:
                file.add(f"{path}[{index}]", str(error))
                return False
        self.look()
        return True

    def play_solution(self, number: int, file: YamlFile) -> bool:
        """Go to a step and play its solution; its question is answered rightly."""
        step = self.lesson.steps[number]
        self.go_to(number)
        done = self.play(step.solution, f"steps[{number}].solution", file)
        if step.question:
            self.progress = evaluate.guess(self.lesson, self.progress, step.question.right, 0)
        return done


def _play_solutions(lesson: Lesson, file: YamlFile) -> bool:
    """Play all solutions in order; False = one of them cannot be played, so nothing after it can."""
    play = _Play(lesson)
    for number, step in enumerate(lesson.steps):
        play.go_to(number)
        if step.checks and step.solution and _passed(play.progress, step):
            file.add(f"steps[{number}].checks", "all hold before the solution is played")
        if not play.play_solution(number, file):
            return False
        for index, check in enumerate(step.checks):
            if not play.progress.has_passed(step, check):
                hint = find_own_hint(check, play.situation())
                message = "does not hold after the solution" + (f"; the hint is {hint}" if hint else "")
                file.add(f"steps[{number}].checks[{index}].expect", message)
        _check_truths(lesson, step, play.situation(), file)
    _compare_with_par(lesson, result_of(play.situation()), file)
    return True


def _passed(progress: Progress, step: Step) -> bool:
    return all(progress.has_passed(step, check) for check in step.checks)


def _check_truths(lesson: Lesson, step: Step, situation: Situation, file: YamlFile) -> None:
    """Check the answers that the model has proven when the solution of ``step`` was played."""
    for number, each in enumerate(lesson.steps):
        question = each.question
        proven = question and (question.after or each.id) == step.id
        if question and proven and not situation.holds(condition(question.truth)):
            message = f"does not hold after the solution of the step {step.id}"
            file.add(f"steps[{number}].question.truth", message)


def _compare_with_par(lesson: Lesson, result: Result, file: YamlFile) -> None:
    for field in ("victims", "nodes", "edits"):
        best, found = getattr(lesson.par, field, None), getattr(result, field)
        if best is not None and best != found:
            file.add(f"par.{field}", f"is {best}, but the solutions have {found}")


def _play_wrong(lesson: Lesson, number: int, check: StepCheck, path: str, file: YamlFile) -> None:
    """Play a wrong answer after the solutions of the steps before."""
    play = _Play(lesson)
    before = YamlFile(file.path, file.text)  # the mistakes of the solutions are known
    for earlier in range(number):
        play.play_solution(earlier, before)
    play.go_to(number)
    if not play.play(check.wrong.do, f"{path}.wrong.do", file):
        return
    if play.progress.has_passed(lesson.steps[number], check):
        file.add(f"{path}.wrong", "the check holds after the wrong answer")
        return
    hint = find_own_hint(check, play.situation())
    if hint != check.wrong.hint:
        file.add(f"{path}.wrong", f"the hint is {hint or 'none'}, not {check.wrong.hint or 'none'}")
