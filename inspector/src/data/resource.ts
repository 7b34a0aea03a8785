// What a component reads: the last value stays visible while the next one is loading.
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, read } from "./api";

export interface Resource<T> {
  value: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
}

/** Reads a URL, again when `version` changes. `undefined` reads nothing. */
export function useRead<T>(address: string | undefined, version: unknown = 0): Resource<T> {
  const [state, setState] = useState<Resource<T> & { of: string | undefined }>({
    value: undefined,
    problem: undefined,
    loading: address !== undefined,
    of: undefined,
  });
  const wanted = useRef(0);
  useEffect(() => {
    const turn = ++wanted.current;
    if (address === undefined) {
      setState({ value: undefined, problem: undefined, loading: false, of: undefined });
      return;
    }
    setState((last) => ({ ...last, loading: true }));
    read<T>(address).then(
      (value) => turn === wanted.current && setState({ value, problem: undefined, loading: false, of: address }),
      (error: unknown) =>
        turn === wanted.current && setState({ value: undefined, problem: asProblem(error), loading: false, of: address }),
    );
  }, [address, version]);
  return state;
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Problem(0, "OFFLINE", `the server does not answer: ${message}`, {}, "Start it again with `ctx ui`, then reload this page.");
}
