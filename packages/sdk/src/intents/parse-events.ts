/** One server-sent event as it was received. Comments and empty events are left out. */
export type ServerEvent = { id: string | undefined; event: string; data: string }

export type EventParser = {
  /** The events that are complete after this piece of text. */
  push(text: string): ServerEvent[]
  /** Milliseconds the server asked to wait before coming back. */
  retryMs(): number | undefined
}

/** Longer than any event of a node; what has no end before is not one. */
const eventCharsMax = 4 * 1_048_576

/** Reads text/event-stream as the HTML standard writes it, however the pieces are cut. */
export function createEventParser(): EventParser {
  let rest = ''
  let fields: { id?: string; event?: string; data: string[] } = { data: [] }
  let retry: number | undefined
  let lastWasCr = false

  const readLine = (line: string): ServerEvent | undefined => {
    if (line === '') {
      const { id, event = 'message', data } = fields
      fields = { data: [] }
      return data.length === 0 ? undefined : { id, event, data: data.join('\n') }
    }
    if (line.startsWith(':')) return undefined
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') fields.data.push(value)
    else if (name === 'event') fields.event = value
    else if (name === 'id' && !value.includes('\0')) fields.id = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) retry = Number(value)
    return undefined
  }

  return {
    retryMs: () => retry,
    push: (text) => {
      // A line may end in CR LF, and the cut may be between the two.
      const fresh = lastWasCr && text.startsWith('\n') ? text.slice(1) : text
      if (text !== '') lastWasCr = text.endsWith('\r')
      rest += fresh
      if (rest.length > eventCharsMax) throw new RangeError('an event of the stream is too long')
      const found: ServerEvent[] = []
      for (let end = rest.search(/[\r\n]/); end >= 0; end = rest.search(/[\r\n]/)) {
        const next = rest[end] === '\r' && rest[end + 1] === '\n' ? end + 2 : end + 1
        const event = readLine(rest.slice(0, end))
        rest = rest.slice(next)
        if (event) found.push(event)
      }
      return found
    },
  }
}
