import { type RawAnswer, readAnswer } from '../load/exchange.ts'

/** Headers whose value differs from one answer to the next, whichever server writes them. */
const changing = new Set(['date', 'x-request-id', 'ratelimit'])
/** Written by node:http itself, on both sides. */
export const ofConnection = new Set(['date', 'connection', 'keep-alive'])

/** Byte for byte the same, but for what must differ. */
export function assertSameBytes(ours: RawAnswer, theirs: RawAnswer): void {
  const masked = (answer: RawAnswer) => [
    `${answer.status}`,
    ...answer.headers.map(([name, value]) => `${name}: ${changing.has(name.toLowerCase()) ? '' : value}`),
    '',
    answer.body,
  ]
  assertEqual('the bytes', masked(ours).join('\n'), masked(theirs).join('\n'))
}

/** For answers made again in each round: the same status, the same headers in the same order, a body of the same size. */
export function assertSameShape(ours: string, theirs: string): void {
  const shape = (text: string) => {
    const { status, headers, body } = readAnswer(text)
    return { status, headers: headers.map(([name]) => name), bodyBytes: body.length }
  }
  assertEqual('the shape of the answers', shape(ours), shape(theirs))
}

export function assertEqual(what: string, ours: unknown, theirs: unknown): void {
  const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)]
  if (a !== b) throw new Error(`${what} differ:\n  ours   ${a.slice(0, 2_000)}\n  theirs ${b.slice(0, 2_000)}`)
}
