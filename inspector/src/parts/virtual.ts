// The part of a long list that is in view.
import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows above and below the window, so that a fast scroll shows no gap. */
const SPARE = 6;
/** Browsers cut off taller areas; beyond it, rows are closer together in the scroll bar than on the screen. */
const TALLEST = 15_000_000;

export interface Window {
  first: number;
  last: number;
  /** The most rows that are drawn at once, whatever the place. */
  most: number;
  /** Where the first row is drawn. */
  top: number;
  height: number;
  scrollTo: (index: number, center?: boolean) => void;
}

export function useVirtual(area: RefObject<HTMLElement | null>, length: number, rowHeight: number): Window {
  const [, redraw] = useState(0);
  const seen = useRef({ top: 0, height: 600 });
  const full = length * rowHeight;
  const height = Math.min(full, TALLEST);
  const viewport = seen.current.height;
  const scale = full > height ? (full - viewport) / (height - viewport) : 1;
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    let frame = 0;
    const measure = () => {
      frame = 0;
      const next = { top: element.scrollTop, height: element.clientHeight };
      if (next.top === seen.current.top && next.height === seen.current.height) return;
      seen.current = next;
      redraw((turn) => turn + 1);
    };
    const later = () => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    measure();
    element.addEventListener("scroll", later, { passive: true });
    const observer = new ResizeObserver(later);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", later);
      observer.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [area.current]);
  // A list that became shorter may end above what was in view.
  useEffect(() => {
    const element = area.current;
    if (element !== null && element.scrollTop !== seen.current.top) {
      seen.current = { top: element.scrollTop, height: element.clientHeight };
      redraw((turn) => turn + 1);
    }
  }, [length]);
  const virtualTop = seen.current.top * scale;
  const first = Math.max(0, Math.floor(virtualTop / rowHeight) - SPARE);
  const last = Math.min(length, Math.ceil((virtualTop + viewport) / rowHeight) + SPARE);
  const top = first * rowHeight - virtualTop + seen.current.top;
  const scrollTo = useCallback(
    (index: number, center = false) => {
      const element = area.current;
      if (element === null) return;
      const from = index * rowHeight;
      const now = element.scrollTop * scale;
      const space = element.clientHeight;
      if (!center && from >= now && from + rowHeight <= now + space) return;
      const wanted = center ? from - (space - rowHeight) / 2 : from < now ? from : from + rowHeight - space;
      element.scrollTop = Math.max(0, wanted / scale);
      seen.current = { top: element.scrollTop, height: space };
      redraw((turn) => turn + 1);
    },
    [rowHeight, scale],
  );
  const most = Math.ceil(viewport / rowHeight) + 2 * SPARE + 1;
  return { first, last, most, top, height, scrollTo };
}
