// Reads the request of a state: the one that was sent, or, without one or for another provider, what the state renders to.
import { url, type Problem } from "../data/api";
import { useRead } from "../data/resource";
import type { Rendered, Sent, TimelineCall } from "../data/wire";

export interface RequestResource {
  /** The provider's format; absent if none is known or chosen. */
  format: string | undefined;
  wasSent: boolean;
  value: Rendered | Sent | undefined;
  problem: Problem | undefined;
}

interface Wanted {
  context: string;
  at: string;
  call: TimelineCall | undefined;
  /** The format in the address. */
  chosen: string | undefined;
  /** The format of the newest call. */
  known: string | undefined;
  isWanted: boolean;
  version: number;
}

export function useRequest({ context, at, call, chosen, known, isWanted, version }: Wanted): RequestResource {
  const attempt = call?.attempts.find((attempt) => attempt.status === "completed");
  const own = attempt?.provider ?? known;
  const format = chosen ?? own;
  const maySent = attempt !== undefined && format === own;
  const sent = useRead<Sent>(isWanted && maySent ? url(context, "sent", { at, spans: true }) : undefined, version);
  const mustRender = !maySent || sent.problem !== undefined;
  const rendered = useRead<Rendered>(isWanted && mustRender && format !== undefined ? url(context, "render", { at, format, spans: true }) : undefined, version);
  return mustRender
    ? { format, wasSent: false, value: rendered.value, problem: rendered.problem }
    : { format, wasSent: true, value: sent.value, problem: undefined };
}
