// Exchanges the token of the address for a cookie, and lists the contexts.
const state = document.getElementById("state");
const list = document.getElementById("contexts");

async function begin() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname + location.search);
    await fetch("v1/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
  }
  const response = await fetch("v1/contexts");
  if (!response.ok) {
    state.textContent = "Open the address that `ctx ui` prints: it has the token of this server.";
    return;
  }
  const { contexts } = await response.json();
  state.textContent = `${contexts.length} contexts`;
  for (const { name, snapshots } of contexts) {
    const item = document.createElement("li");
    item.textContent = `${name}: ${snapshots} snapshots`;
    list.append(item);
  }
}

begin();
