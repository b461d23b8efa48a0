"""The URLs of the pages. All pages of a sandbox are below ``/s/<name>/``, as its API."""

from typing import Final

from django.views.i18n import set_language

from schedviz.access.account import Role
from schedviz.limits.counts import COMPARISON, CREATION, IMPORT, QUESTION, ROOM
from schedviz.routes import EDIT, OWN, PUBLIC, VIEW, Route
from schedviz.web.ask import views as ask
from schedviz.web.clock import views as clock
from schedviz.web.commands import views as command
from schedviz.web.compare import played
from schedviz.web.compare import views as comparisons
from schedviz.web.compare import workload_views as workloads
from schedviz.web.connect import views as connect
from schedviz.web.cycle import views as cycle
from schedviz.web.documents import views as documents
from schedviz.web.download import views as downloads
from schedviz.web.forms import scheduler_views as scheduler
from schedviz.web.forms import views as forms
from schedviz.web.guide import views as guides
from schedviz.web.home import views as home
from schedviz.web.ideas import views as ideas
from schedviz.web.imports import views as imports
from schedviz.web.imports.take import UPLOAD_BYTES
from schedviz.web.leader import views as leader
from schedviz.web.lessons import solution_views as lesson_solutions
from schedviz.web.lessons import upload_views as lesson_uploads
from schedviz.web.lessons import views as lessons
from schedviz.web.nodes import table_views as table
from schedviz.web.nodes import views as node
from schedviz.web.objects import views as stored
from schedviz.web.outside import views as outside
from schedviz.web.page import views as page
from schedviz.web.past import branch_views as branch
from schedviz.web.past import undo_views as undo
from schedviz.web.pod_groups import views as pod_group
from schedviz.web.pods import views as pod
from schedviz.web.pods import what_if_views as why
from schedviz.web.predict import views as predict
from schedviz.web.queue import views as pending
from schedviz.web.rooms import acts as room_acts
from schedviz.web.rooms import learner as room_learner
from schedviz.web.rooms import teacher as room_teacher
from schedviz.web.rooms import views as rooms
from schedviz.web.share import views as share

_ROOM: Final = "rooms/<slug:code>"
_SANDBOX: Final = "s/<slug:name>"
_AT: Final = f"{_SANDBOX}/at/<int:seq>"
_POD_GROUP: Final = "pod-groups/<str:namespace>/<str:group>"
_POD: Final = f"{_SANDBOX}/pods/<str:namespace>/<str:pod>"

urlpatterns: Final = [
    Route("", home.home, "home", read=PUBLIC),
    Route("language/", set_language, "set-language", read=PUBLIC, write=PUBLIC, changes=False),
    Route(
        "sandboxes/",
        home.post_sandbox,
        "create-sandbox",
        write=PUBLIC,
        changes=False,
        counts=CREATION,
        creates="name",
    ),
    Route(
        "compare/",
        comparisons.comparison_form,
        "compare",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=COMPARISON,
        copies="workload",
    ),
    Route("compare/<slug:number>/", comparisons.comparison_page, "comparison", read=PUBLIC),
    Route(
        "compare/<slug:number>/stop/",
        comparisons.stop_comparison,
        "stop-comparison",
        write=PUBLIC,
        changes=False,
    ),
    Route(
        "bring/",
        imports.import_cluster,
        "bring",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=IMPORT,
        creates="name",
        body_bytes=UPLOAD_BYTES,
        ends=True,
    ),
    Route(
        "connect/",
        connect.connect_cluster,
        "connect",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=CREATION,
        creates="name",
        role=Role.TEACHER,
    ),
    Route("connect/<slug:mirror>/", connect.connected_cluster, "connected", read=PUBLIC, role=Role.TEACHER),
    Route(
        "connect/<slug:mirror>/disconnect/",
        connect.disconnect_cluster,
        "disconnect",
        write=PUBLIC,
        changes=False,
        role=Role.TEACHER,
    ),
    Route(
        "workload/",
        workloads.play_workload,
        "workload",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=IMPORT,
        creates="name",
        body_bytes=UPLOAD_BYTES,
        ends=True,
    ),
    Route(
        "workload/play/",
        played.play_now,
        "play-workload",
        write=PUBLIC,
        changes=False,
        counts=COMPARISON,
        body_bytes=UPLOAD_BYTES,
        ends=True,
    ),
    Route("played/<slug:number>/", played.played_page, "played", read=PUBLIC),
    Route("played/<slug:number>/stop/", played.stop_played, "stop-played", write=PUBLIC, changes=False),
    Route("played/<slug:number>/result.json", played.played_json, "played-json", read=PUBLIC),
    Route("docs/", documents.document_index, "documents", read=PUBLIC),
    Route("docs/<slug:name>/", documents.document_page, "document", read=PUBLIC),
    Route("docs/examples/<str:name>", documents.document_example, "document-example", read=PUBLIC),
    Route("ideas/", ideas.idea_list, "ideas", read=PUBLIC),
    Route("ideas/<slug:name>/", ideas.idea_page, "idea", read=PUBLIC),
    Route(
        "ideas/<slug:name>/example/",
        ideas.start_idea,
        "start-idea",
        write=PUBLIC,
        changes=False,
        counts=CREATION,
    ),
    Route(
        "guides/<slug:name>/", guides.start_guide, "start-guide", write=PUBLIC, changes=False, counts=CREATION
    ),
    Route("lessons/", lessons.lesson_list, "lessons", read=PUBLIC),
    Route("solutions/<slug:token>/", lesson_solutions.solution_page, "solution", read=PUBLIC),
    Route(
        "solutions/<slug:token>/nodes.svg", lesson_solutions.solution_picture, "solution-picture", read=PUBLIC
    ),
    Route(
        "lesson-upload/",
        lesson_uploads.upload_lesson,
        "upload-lesson",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        role=Role.TEACHER,
    ),
    Route(
        "lessons/<slug:name>/",
        lessons.start_lesson,
        "start-lesson",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=CREATION,
    ),
    Route("lessons/<slug:name>/handout/", lessons.handout, "handout", read=PUBLIC),
    Route("lessons/<slug:name>/notes/", lessons.teacher_notes, "lesson-notes", read=PUBLIC),
    Route("rooms/", rooms.find_by_code, "rooms", read=PUBLIC, code="code"),
    Route(
        "rooms/new/",
        rooms.new_room,
        "new-room",
        read=PUBLIC,
        write=PUBLIC,
        changes=False,
        counts=ROOM,
        role=Role.TEACHER,
    ),
    Route(f"{_ROOM}/", rooms.join_room, "room", read=PUBLIC, write=PUBLIC, changes=False),
    Route(f"{_ROOM}/warning/", room_learner.warn_of_outcome, "room-warning", read=PUBLIC),
    Route(f"{_ROOM}/qr.svg", rooms.qr_code, "room-qr", read=PUBLIC),
    Route(f"{_ROOM}/me/", room_learner.own_page, "room-me", read=PUBLIC, write=PUBLIC, changes=False),
    Route(f"{_ROOM}/me/hint/", room_learner.close_hint, "room-hint", write=PUBLIC, changes=False),
    Route(f"{_ROOM}/me/signal/", room_learner.send_signal, "room-signal", write=PUBLIC, changes=False),
    Route(f"{_ROOM}/me/place/", room_learner.own_place, "room-place", read=PUBLIC),
    Route(f"{_ROOM}/me/<str:token>/", room_learner.personal_link, "room-personal", read=PUBLIC),
    Route(f"{_ROOM}/teach/", room_teacher.teach, "teach", read=PUBLIC, teacher=True),
    Route(
        f"{_ROOM}/teach/do/",
        room_acts.act,
        "room-act",
        write=PUBLIC,
        changes=("pause", "resume", "start", "step", "state", "section"),
        teacher=True,
    ),
    Route(
        f"{_ROOM}/teach/own/",
        room_teacher.open_own_sandbox,
        "room-own",
        write=PUBLIC,
        changes=False,
        teacher=True,
    ),
    Route(
        f"{_ROOM}/teach/results/", room_teacher.results_page, "room-results-page", read=PUBLIC, teacher=True
    ),
    Route(
        f"{_ROOM}/teach/questions.csv",
        room_teacher.download_questions,
        "room-questions",
        read=PUBLIC,
        teacher=True,
    ),
    Route(
        f"{_ROOM}/teach/results.csv", room_teacher.download_results, "room-results", read=PUBLIC, teacher=True
    ),
    Route(f"{_ROOM}/teach/<str:token>/", room_teacher.teacher_link, "teach-link", read=PUBLIC),
    Route(f"{_ROOM}/projector/", room_teacher.projector, "room-projector", read=PUBLIC, teacher=True),
    Route(
        f"{_SANDBOX}/ask/",
        ask.ask_form,
        "ask",
        read=VIEW,
        write=VIEW,
        changes=False,
        counts=COMPARISON,
    ),
    Route(f"{_SANDBOX}/ask/<slug:number>/", ask.asked_page, "asked", read=VIEW),
    Route(f"{_SANDBOX}/ask/<slug:number>/stop/", ask.stop_asked, "stop-asked", write=VIEW, changes=False),
    Route(f"{_SANDBOX}/ask/<slug:number>/answer.json", ask.asked_json, "asked-json", read=VIEW),
    Route(f"{_SANDBOX}/ask/<slug:number>/<slug:table>.csv", ask.asked_csv, "asked-csv", read=VIEW),
    Route(f"{_SANDBOX}/", page.sandbox_page, "sandbox", read=VIEW),
    Route(f"{_SANDBOX}/start-over/", home.start_over, "start-over", read=EDIT, write=EDIT, changes=True),
    Route(f"{_SANDBOX}/undo/", undo.undo_last_edit, "undo", read=EDIT, write=EDIT, changes=True),
    Route(f"{_SANDBOX}/at/", page.jump_to_moment, "jump", read=VIEW),
    Route(f"{_AT}/", page.moment_page, "moment", read=VIEW),
    Route(
        f"{_AT}/branch/",
        branch.new_branch,
        "branch",
        read=VIEW,
        write=VIEW,
        changes=False,
        counts=CREATION,
        creates="name",
    ),
    Route(f"{_SANDBOX}/branch/", branch.branch_now, "branch-now", write=VIEW, changes=False, counts=CREATION),
    Route(f"{_AT}/cycles/<int:number>/", cycle.cycle_panel, "moment-cycle", read=VIEW),
    Route(f"{_AT}/cycles/last/", cycle.cycle_panel, "moment-last-cycle", read=VIEW),
    Route(f"{_AT}/pods/<str:namespace>/<str:pod>/", pod.pod_panel, "moment-pod", read=VIEW),
    Route(f"{_AT}/{_POD_GROUP}/", pod_group.group_panel, "moment-pod-group", read=VIEW),
    Route(f"{_AT}/nodes/", table.nodes_table, "moment-nodes", read=VIEW),
    Route(f"{_AT}/nodes/<str:node>/", node.node_panel, "moment-node", read=VIEW),
    Route(f"{_AT}/objects/", stored.kinds, "moment-kinds", read=VIEW),
    Route(f"{_AT}/objects/<str:resource>/", stored.objects, "moment-objects", read=VIEW),
    Route(f"{_AT}/objects/<str:resource>/<path:key>/", stored.show, "moment-object", read=VIEW),
    Route(f"{_AT}/pending/", pending.pending_pods, "moment-pending", read=VIEW),
    Route(f"{_AT}/<slug:panel>/", page.panel_of_now, "moment-now", read=VIEW),
    Route(f"{_SANDBOX}/delete/", home.remove_sandbox, "delete-sandbox", write=OWN, changes=True),
    Route(f"{_SANDBOX}/keep/", home.keep_sandbox, "keep-sandbox", write=EDIT, changes=False),
    Route(f"{_SANDBOX}/share/", share.share, "share", read=OWN, write=OWN, changes=False),
    Route(f"{_SANDBOX}/share/kubeconfig/", share.download_kubeconfig, "kubeconfig", write=OWN, changes=False),
    Route("share/<slug:name>/<str:token>/", share.open_link, "open-link", read=PUBLIC),
    Route(f"{_SANDBOX}/download/", downloads.choice, "download", read=VIEW),
    Route(f"{_SANDBOX}/download/objects/", downloads.objects, "download-objects", read=VIEW),
    Route(f"{_SANDBOX}/download/manifests/", downloads.manifests, "download-manifests", read=VIEW),
    Route(f"{_SANDBOX}/download/nodes.svg", downloads.picture, "download-picture", read=VIEW),
    Route(f"{_SANDBOX}/pending/", pending.pending_pods, "pending", read=VIEW),
    Route(f"{_SANDBOX}/imported/", imports.import_report, "imported", read=VIEW),
    Route(f"{_SANDBOX}/clock/", clock.clock_action, "clock", write=EDIT, changes=True),
    Route(
        f"{_SANDBOX}/predict/",
        predict.predict,
        "predict",
        read=VIEW,
        write=EDIT,
        changes=("begin", "go"),
        acts={"guess": VIEW, "reset": VIEW},
    ),
    Route(f"{_SANDBOX}/command/", command.command, "command", read=EDIT, write=EDIT, changes=True),
    Route(f"{_SANDBOX}/command/options/", command.completions, "command-options", read=EDIT),
    Route(f"{_SANDBOX}/outside/", outside.outside_panel, "outside", read=VIEW),
    Route(f"{_SANDBOX}/leader/", leader.leader_panel, "leader", read=VIEW),
    Route(f"{_SANDBOX}/leader/kill/", leader.kill_leader, "kill-leader", write=EDIT, changes=True),
    Route(f"{_SANDBOX}/leader/relist/", leader.relist_leader, "break-watch", write=EDIT, changes=True),
    Route(f"{_SANDBOX}/cycles/<int:number>/", cycle.cycle_panel, "cycle", read=VIEW),
    Route(f"{_SANDBOX}/cycles/last/", cycle.cycle_panel, "last-cycle", read=VIEW),
    Route(f"{_SANDBOX}/guide/", guides.guide_box, "guide", read=VIEW, write=VIEW, changes=False),
    Route(
        f"{_SANDBOX}/lesson/",
        lessons.lesson_panel,
        "lesson-panel",
        read=VIEW,
        write=EDIT,
        changes=("undo", "again", "reset", "solution"),
    ),
    Route(
        f"{_SANDBOX}/lesson/share/",
        lesson_solutions.share_solution,
        "share-solution",
        write=EDIT,
        changes=False,
    ),
    Route(f"{_SANDBOX}/propose/", guides.propose_pod, "propose", read=EDIT),
    Route(f"{_SANDBOX}/new/yaml/", forms.paste_yaml, "paste", read=EDIT, write=EDIT, changes=True),
    Route(f"{_SANDBOX}/new/<slug:kind>/", forms.new_object, "new", read=EDIT, write=EDIT, changes=True),
    Route(
        f"{_SANDBOX}/scheduler/", scheduler.edit_scheduler, "scheduler", read=VIEW, write=EDIT, changes=True
    ),
    Route(f"{_SANDBOX}/objects/", stored.kinds, "kinds", read=VIEW),
    Route(f"{_SANDBOX}/objects/<str:resource>/", stored.objects, "objects", read=VIEW),
    Route(f"{_SANDBOX}/objects/<str:resource>/<path:key>/", stored.show, "object", read=VIEW),
    Route(
        f"{_SANDBOX}/edit/<str:resource>/<path:key>/",
        stored.edit,
        "edit",
        read=EDIT,
        write=EDIT,
        changes=True,
    ),
    Route(
        f"{_SANDBOX}/delete/<str:resource>/<path:key>/",
        stored.delete,
        "delete-object",
        write=EDIT,
        changes=True,
    ),
    Route(f"{_POD}/", pod.pod_panel, "pod", read=VIEW),
    Route(f"{_POD}/delete/", pod.delete_pod, "delete-pod", write=EDIT, changes=True),
    Route(f"{_POD}/permit/", pod.permit, "permit", write=EDIT, changes=True),
    Route(
        f"{_POD}/whatif/",
        why.what_if_part,
        "what-if",
        read=VIEW,
        write=EDIT,
        changes=("apply",),
        acts={"ask": VIEW, "stop": VIEW, "branch": VIEW},
        counts={"ask": QUESTION, "branch": CREATION},
    ),
    Route(
        f"{_POD}/evicted/", why.evicted_part, "evicted", read=VIEW, write=VIEW, changes=False, counts=QUESTION
    ),
    Route(f"{_SANDBOX}/{_POD_GROUP}/", pod_group.group_panel, "pod-group", read=VIEW),
    Route(f"{_SANDBOX}/nodes/", table.nodes_table, "nodes", read=VIEW),
    Route(f"{_SANDBOX}/nodes/<str:node>/", node.node_panel, "node", read=VIEW),
    Route(
        f"{_SANDBOX}/nodes/<str:node>/<slug:action>/",
        node.change_node,
        "change-node",
        write=EDIT,
        changes=True,
    ),
]
