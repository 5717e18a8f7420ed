import { connect } from 'node:net'
import { createAnswerReader } from './answer-reader.ts'

export type RawAnswer = { status: number; headers: [name: string, value: string][]; body: string }

/** One request, and the answer byte for byte. */
export async function exchange(port: number, request: string): Promise<RawAnswer> {
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.on('error', reject)
    socket.on(
      'data',
      createAnswerReader((_status, bytes) => {
        socket.destroy()
        resolve(bytes.toString('latin1'))
      }),
    )
  })
  return readAnswer(text)
}

export function readAnswer(text: string): RawAnswer {
  const headEnd = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ')
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  return { status: Number(first.split(' ')[1]), headers, body: text.slice(headEnd + 4) }
}

export function headerOf(answer: RawAnswer, name: string): string {
  const found = answer.headers.find(([given]) => given.toLowerCase() === name)
  if (!found) throw new Error(`the answer has no ${name}`)
  return found[1]
}

export function decodeHeader<T>(answer: RawAnswer, name: string): T {
  return JSON.parse(Buffer.from(headerOf(answer, name), 'base64').toString('utf8')) as T
}
