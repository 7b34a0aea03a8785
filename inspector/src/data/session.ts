// What the caller may do. The page offers edits only to those who may make them.
import { useEffect, useState } from "preact/hooks";
import { isOffline, read } from "./api";
import type { Session } from "./wire";

let known: Promise<Session> | undefined;

/** Returns whether the caller may change contexts; false until that is known. */
export function useMayWrite(): boolean {
  const [may, setMay] = useState(false);
  useEffect(() => {
    if (isOffline()) return;
    known ??= read<Session>("v1/session");
    known.then(
      (session) => setMay(session.right !== "read"),
      () => setMay(false),
    );
  }, []);
  return may;
}
