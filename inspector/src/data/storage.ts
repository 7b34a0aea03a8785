// What this browser remembers of the user's choices. A page from a file, or a browser with strict settings, may have no storage: then
// nothing is remembered, and everything else works.

/** Returns what is remembered; `null` if nothing is, or nothing can be. */
export function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Remembers a text, or forgets it. */
export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // There is no storage, or no room in it.
  }
}
