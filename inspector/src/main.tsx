// The inspector: what the model saw, call by call. It only reads.
import { render } from "preact";
import "./style/index.css";
import { usePlace } from "./data/address";
import { signIn } from "./data/api";
import { asProblem } from "./data/resource";
import { Refused } from "./parts/notice";
import { applyTheme, Bar } from "./views/bar";
import { ContextPage } from "./views/context";
import { Contexts } from "./views/contexts";

function Inspector() {
  const place = usePlace();
  document.title = place.context === undefined ? "Contextree" : `${place.context} · Contextree`;
  if (place.context !== undefined) return <ContextPage key={place.context} place={place} context={place.context} />;
  return (
    <div class="page home-page">
      <Bar place={place} />
      <Contexts place={place} />
    </div>
  );
}

const root = document.getElementById("inspector");
applyTheme(localStorage.getItem("theme") ?? "auto");
if (root !== null) {
  signIn().then(
    () => render(<Inspector />, root),
    (error: unknown) => render(<Refused problem={asProblem(error)} />, root),
  );
}
