// A few small drawings, in the colour of the text around them.

const PATHS: Record<string, string> = {
  chevron: "M6 4l4 4-4 4",
  pin: "M8 9.5V14M5 2.5h6M6 2.5v4l-1.5 3h7L10 6.5v-4",
  search: "M7 12A5 5 0 107 2a5 5 0 000 10zM10.6 10.6L14 14",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  close: "M4 4l8 8M12 4l-8 8",
  sun: "M8 11a3 3 0 100-6 3 3 0 000 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  json: "M6 2.5c-2 0-2 1-2 2.5s0 2.5-1.5 3C4 8.500 4 9.500 4 11s0 2.500 2 2.500M10 2.500c2 0 2 1 2 2.500s0 2.500 1.500 3C12 8.500 12 9.500 12 11s0 2.500-2 2.500",
};

export function Icon({ name }: { name: keyof typeof PATHS & string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

/** The sign of the project: a node with its branches. */
export function Sign() {
  return (
    <svg class="sign" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M12 21V9M12 15l-5.500-4.500M12 12l5.500-4" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />
      <circle cx="12" cy="5.500" r="3" class="leaf-a" />
      <circle cx="5.500" cy="9" r="2.300" class="leaf-b" />
      <circle cx="18.500" cy="7" r="2.300" class="leaf-c" />
    </svg>
  );
}
