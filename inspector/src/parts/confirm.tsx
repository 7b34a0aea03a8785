// The question before a change.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  action: string;
  isReady?: boolean;
  /** The change cannot be taken back. */
  isFinal?: boolean;
  children: ComponentChildren;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before a change. Escape and a click beside the dialog change nothing. */
export function Confirm({ title, action, isReady = true, isFinal = false, children, onConfirm, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isReady) onConfirm();
  };
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="confirm-title" onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <form onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        {children}
        <p class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
          <button class={isFinal ? "strong final" : "strong"} disabled={!isReady}>{action}</button>
        </p>
      </form>
    </dialog>
  );
}
