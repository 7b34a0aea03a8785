// What the caller may do. The page offers edits only to those who may make them.
import { useEffect, useState } from "preact/hooks";
import { isOffline, read } from "./api";
import type { Session } from "./wire";

export type { Session };

let known: Promise<Session> | undefined;

/** Returns who calls; `undefined` until that is known, and without a server. */
export function useWho(): Session | undefined {
  const [who, setWho] = useState<Session>();
  useEffect(() => {
    if (isOffline()) return;
    known ??= read<Session>("v1/session");
    known.then(setWho, () => setWho(undefined));
  }, []);
  return who;
}

/** Returns who calls, if they may change contexts; `undefined` until that is known. */
export function useWriter(): Session | undefined {
  const who = useWho();
  return who?.right === "read" ? undefined : who;
}
