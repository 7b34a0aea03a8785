// What a client received, as lines of JSON: the same with and without the proxy.

// Of the connection, not of the answer.
const CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

/** Writes what a conversation received. */
export function note(name, value) {
  process.stdout.write(JSON.stringify([name, value], ordered) + '\n')
}

/** Writes objects with their names in order. */
function ordered(_, value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Returns the headers of a response that a proxy has to pass on. */
export function headers(response) {
  return [...response.headers].filter(([name]) => !CONNECTION.has(name)).sort()
}

/** Returns the error that `act` throws. */
export async function refused(act) {
  try {
    return { 'no error': await act() }
  } catch (error) {
    return { type: error.constructor.name, status: error.status ?? null, says: error.message }
  }
}

/** Returns what a stream delivers. */
export async function all(stream) {
  const events = []
  for await (const event of await stream) events.push(event)
  return events
}
