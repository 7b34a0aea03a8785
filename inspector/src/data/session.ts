// What the caller may do. The page offers edits only to those who may make them.
import { useEffect, useState } from "preact/hooks";
import { isOffline, read } from "./api";
import type { Session } from "./wire";

export type { Session };

let known: Promise<Session> | undefined;

/** Returns who calls, if they may change contexts; `undefined` until that is known. */
export function useWriter(): Session | undefined {
  const [writer, setWriter] = useState<Session>();
  useEffect(() => {
    if (isOffline()) return;
    known ??= read<Session>("v1/session");
    known.then(
      (session) => setWriter(session.right === "read" ? undefined : session),
      () => setWriter(undefined),
    );
  }, []);
  return writer;
}
