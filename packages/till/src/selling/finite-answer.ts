import { readLimited } from '@assay/protocol/read-limited'
import type { AnswerContent } from '../contract/paid-call.ts'
import { defineProblems, Problem, problemRow } from '../kernel/problem.ts'
import { checkSchema, type Schema } from './schema.ts'

export const defaultAnswerBytes = 1_000_000

export type FiniteAnswer = AnswerContent & { body: Uint8Array | string }

type Limits = { contentType: string; output: Schema | undefined; bytesMax: number }

/** What a handler gave, as bytes that can be stored before money moves. Throws where nothing may be charged for it. */
export async function finiteAnswer(given: unknown, limits: Limits): Promise<FiniteAnswer> {
  const answer = given instanceof Response ? await fromResponse(given, limits) : await fromValue(given, limits)
  if (Buffer.byteLength(answer.body) > limits.bytesMax) throw tooLong(limits.bytesMax)
  return answer
}

async function fromValue(given: unknown, { contentType, output }: Limits): Promise<FiniteAnswer> {
  const isJson = contentType === 'application/json' || contentType.endsWith('+json')
  if (!isJson && (typeof given === 'string' || given instanceof Uint8Array))
    return { status: 200, contentType, body: given }
  refuseUnwritable(given)
  const checked = output === undefined ? { value: given } : await checkSchema(output, given)
  if (checked === undefined || 'issues' in checked)
    throw new Error(
      `the answer does not satisfy its output schema: ${checked?.issues.map(({ message }) => message).join(', ') ?? 'it cannot be read'}`,
    )
  const body = JSON.stringify(checked.value)
  if (body === undefined) throw new Error('the handler gave no answer')
  return { status: 200, contentType: isJson ? contentType : 'application/json', body }
}

/** JSON would write these as an empty object or a list of numbers, and the buyer would have paid for it. */
function refuseUnwritable(given: unknown): void {
  if (given instanceof Uint8Array)
    throw new Error('the handler gave bytes: name their media type in representations, or give a Response')
  if (typeof given === 'object' && given !== null && (Symbol.asyncIterator in given || given instanceof ReadableStream))
    throw new Error('the handler gave a stream: an answer is finite; sell access and stream apart from it')
}

async function fromResponse(response: Response, { contentType, bytesMax }: Limits): Promise<FiniteAnswer> {
  if (!response.ok) throw await refusalOf(response)
  const headers: Record<string, string> = {}
  response.headers.forEach((value, name) => {
    if (name !== 'content-type' && name !== 'content-length') headers[name] = value
  })
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? contentType,
    body: await readAll(response, bytesMax),
    headers,
  }
}

async function readAll(response: Response, bytesMax: number): Promise<Uint8Array> {
  const bytes = await readLimited(response.body, bytesMax)
  if (bytes === 'too_large') throw tooLong(bytesMax)
  return bytes
}

const tooLong = (bytesMax: number) =>
  new Error(
    `the answer is longer than ${bytesMax} bytes: raise answerBytesMax, or sell access and stream apart from it`,
  )

/** A Response that is no 2xx: its status and text for the caller, and nothing is charged. */
async function refusalOf(response: Response): Promise<Problem> {
  const detail = Buffer.from(await readAll(response, 10_000).catch(() => new Uint8Array())).toString()
  const status = response.status >= 400 ? response.status : 500
  return refusal(status, detail === '' ? 'The request was not answered' : detail.slice(0, 500))
}

/** For handlers to throw: nothing is charged, and the caller gets this status and text. */
export function refusal(status: number, detail: string): Problem {
  return new Problem({ ...refused, status, retryable: status >= 500 || status === 429 }, { detail })
}

const { not_answered: refused } = defineProblems({
  not_answered: problemRow(
    500,
    false,
    'The seller gave no answer',
    'Nothing was charged. Read `detail`, change the request or try again later.',
  ),
})
