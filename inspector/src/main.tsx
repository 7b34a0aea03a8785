// The inspector: what the model saw, call by call.
import { render } from "preact";
import "./style/index.css";
import { usePlace } from "./data/address";
import { signIn } from "./data/api";
import { openFile } from "./data/offline";
import { asProblem } from "./data/resource";
import { stored } from "./data/storage";
import { DoneBar } from "./parts/done";
import { Refused } from "./parts/notice";
import { applyTheme } from "./views/bar";
import { ContextPage } from "./views/context";
import { ContextsPage } from "./views/contexts";

function Inspector() {
  const place = usePlace();
  document.title = place.context === undefined ? "Contextree" : `${place.context} · Contextree`;
  return (
    <>
      {place.context !== undefined ? (
        <ContextPage key={place.context} place={place} context={place.context} />
      ) : (
        <ContextsPage place={place} />
      )}
      <DoneBar />
    </>
  );
}

const root = document.getElementById("inspector");
applyTheme(stored("theme") ?? "auto");
const shown = openFile();
if (root !== null && shown !== undefined) {
  if (location.hash === "") history.replaceState(null, "", `#/${encodeURIComponent(shown)}`);
  render(<Inspector />, root);
} else if (root !== null) {
  signIn().then(
    () => render(<Inspector />, root),
    (error: unknown) => render(<Refused problem={asProblem(error)} />, root),
  );
}
