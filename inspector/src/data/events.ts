// Changes that the server announces, for as long as the page is looked at.
//
// Browsers allow six connections to a server over HTTP/1.1, for all tabs together: a few hidden tabs that listen would keep every other
// request waiting. So a hidden tab does not listen. Each new connection begins with what is known now, so nothing is missed.

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

export interface Listener {
  /** The events to listen for. An answer of `false` ends it. */
  on: Record<string, (event: MessageEvent<string>) => boolean | void>;
  onOpen?: () => void;
  /** The connection is gone; it will be tried again. */
  onLost?: () => void;
}

/** Listens until the function that it returns is called. */
export function listen(address: string, { on, onOpen, onLost }: Listener): () => void {
  let events: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pause = FIRST_PAUSE;
  let isOver = false;
  const close = () => {
    clearTimeout(timer);
    events?.close();
    events = undefined;
  };
  const end = () => {
    isOver = true;
    close();
    document.removeEventListener("visibilitychange", look);
  };
  const open = () => {
    const now = (events = new EventSource(address));
    now.addEventListener("open", () => {
      pause = FIRST_PAUSE;
      onOpen?.();
    });
    now.addEventListener("error", () => {
      // The browser itself gives up after some answers, and tries again without a pause after others.
      close();
      onLost?.();
      timer = setTimeout(open, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    });
    for (const [name, run] of Object.entries(on)) {
      now.addEventListener(name, (event) => {
        if (run(event as MessageEvent<string>) === false) end();
      });
    }
  };
  const look = () => {
    if (document.visibilityState === "hidden") {
      if (events !== undefined) onLost?.();
      close();
    } else if (events === undefined && !isOver) {
      clearTimeout(timer);
      open();
    }
  };
  document.addEventListener("visibilitychange", look);
  look();
  return end;
}
