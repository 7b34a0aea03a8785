// What is said instead of a view: loading, empty, refused.
import type { ComponentChildren } from "preact";
import type { Problem } from "../data/api";
import { Prose } from "./prose";
import { SignIn } from "./sign-in";

export function Loading({ what }: { what: string }) {
  return (
    <p class="notice loading" role="status">
      Loading {what} …
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Refused({ problem }: { problem: Problem }) {
  if (problem.code === "E_TOKEN") return <SignIn problem={problem} />;
  return (
    <div class="notice refused" role="alert">
      <p>
        <strong>
          <Prose text={problem.message} />
        </strong>
      </p>
      <p class="small">
        <code>{problem.code}</code>
        {problem.hint !== undefined && <> · <Prose text={problem.hint} /></>}
      </p>
    </div>
  );
}
