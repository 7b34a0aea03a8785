// Redaction: the one change that cannot be taken back, so it is asked about twice.
import { useEffect, useState } from "preact/hooks";
import { post, type Problem } from "../data/api";
import { plural } from "../data/format";
import { asProblem } from "../data/resource";
import type { Redacted } from "../data/wire";
import { Confirm } from "../parts/confirm";
import { Refused } from "../parts/notice";

interface Props {
  context: string;
  node: string;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}

export function Redact({ context, node, onConfirm, onClose }: Props) {
  const [tried, setTried] = useState<{ found?: Redacted; problem?: Problem }>({});
  const [reason, setReason] = useState("");
  const [isSure, setSure] = useState(false);
  useEffect(() => {
    post<Redacted>(context, "redact", { target: node, dry_run: true }).then(
      (found) => setTried({ found }),
      (error: unknown) => setTried({ problem: asProblem(error) }),
    );
  }, [context, node]);
  const { found, problem } = tried;
  return (
    <Confirm title="Redact this content for good?" action="Redact for good" isFinal isReady={isSure && found !== undefined} onConfirm={() => onConfirm(reason.trim())} onClose={onClose}>
      {problem !== undefined && <Refused problem={problem} />}
      {found === undefined && problem === undefined && <p role="status">Asking what it would replace …</p>}
      {found !== undefined && (
        <>
          <p>
            {plural(found.contents, "text")} of <code>{node}</code> would be replaced by a marker: in the working state, in every call that was made, and wherever else the store has the same content.
          </p>
          <label>
            Reason, kept in the marker <input value={reason} placeholder="such as: a customer's address" onInput={(event) => setReason(event.currentTarget.value)} />
          </label>
          <label class="check">
            <input type="checkbox" checked={isSure} onChange={(event) => setSure(event.currentTarget.checked)} />
            <span>This cannot be undone, neither here nor with <code>ctx undo</code>.</span>
          </label>
          <p class="small">Hashes stay, so the history can still be verified. Copies outside of this store, such as backups, are not changed.</p>
        </>
      )}
    </Confirm>
  );
}
