// Returns a function that calls run at once, and, if it is called again within a time, once more after that. So nothing that
// happened last is left out. wait: the time in milliseconds, or a function that returns it.
export function paced(run, wait) {
  let timer = 0;
  let again = false;
  return function call() {
    again = timer !== 0;
    if (timer) return;
    run();
    timer = setTimeout(
      () => {
        timer = 0;
        if (again) call();
      },
      typeof wait === "function" ? wait() : wait,
    );
  };
}
