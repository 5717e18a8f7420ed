import { writeFile } from 'node:fs/promises'
import { readJson } from '@assay/protocol/json-object'
import {
  type AssayClient,
  type AssayResult,
  awaitWitnesses,
  packEvidence,
  parseAttestation,
  type Quote,
  witnessesOf,
} from '@assay/sdk'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { toJson } from '../output.ts'
import type { RequestToSend } from './build-request.ts'
import { receiptText } from './describe.ts'
import { paymentDocument, receiptDocument, refusal, verifiedDocument } from './documents.ts'

export type DeliverOptions = {
  out?: string
  save?: string
  json?: boolean
  raw?: boolean
  withhold?: boolean
  /** `--out` of a citation holds evidence, not the answer alone. */
  outEvidence?: boolean
  /** How many seconds to wait for witnesses. */
  witnessWait?: string
}

export type Delivery = {
  request: RequestToSend
  result: AssayResult
  client: AssayClient
  quote: Pick<Quote, 'payTo' | 'priceUsd'> | undefined
}

/** Hands over what came back: the answer, the receipt line, the evidence. */
export async function deliver(context: CommandContext, delivery: Delivery, options: DeliverOptions): Promise<void> {
  const { terminal, endWith } = context
  const { result, quote } = delivery
  const bytes = new Uint8Array(await result.response.clone().arrayBuffer())
  const body = readJson(bytes)
  const evidenceIn = [options.save, ...(options.outEvidence ? [options.out] : [])].filter((path) => path !== undefined)
  const witnessed = evidenceIn.length > 0 ? await saveEvidence(delivery, evidenceIn, body, options) : undefined
  if (options.withhold) return
  if (result.response.status >= 400) throw refusal(result, body, quote)
  if (options.out !== undefined && !options.outEvidence) await writeFile(options.out, bytes)
  if (options.json) terminal.out(toJson(resultDocument(delivery, options, body, bytes)))
  else if (options.out === undefined) terminal.outBytes(options.raw ? bytes : endedLine(result.response, bytes))
  terminal.say(receiptText(result, quote?.payTo, body))
  if (options.out !== undefined && !options.outEvidence) terminal.say(`answer in ${options.out}`)
  if (witnessed !== undefined) terminal.say(witnessed)
  for (const path of evidenceIn) terminal.say(`evidence in ${path}; check it with: assay verify ${path}`)
  if (result.receipt?.status === 'invalid') endWith(exitCodes.notVerified)
}

/** A text that goes to a pipe ends as a line; other bytes stay as they are. */
function endedLine({ headers }: Response, bytes: Uint8Array): Uint8Array {
  const isText = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/.test(headers.get('content-type') ?? '')
  return isText && bytes.at(-1) !== 10 ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes
}

const waitSeconds = 15

function witnessSeconds(text: string | undefined): number {
  const seconds = Number(text ?? waitSeconds)
  if (!(seconds >= 0 && seconds <= 600)) throw usageError(`--witness-wait: not a number of seconds up to 600: ${text}`)
  return seconds
}

/** Writes the evidence; for an attestation with the witnesses that signed in time, and says how many these were. */
async function saveEvidence(
  { request, result, client }: Delivery,
  paths: readonly string[],
  body: unknown,
  options: DeliverOptions,
): Promise<string | undefined> {
  const bought = result.response.status < 400 && !options.withhold ? parseAttestation(body) : undefined
  const node = new URL(request.url).origin
  const wait = witnessSeconds(options.witnessWait)
  const attestation = bought && (await awaitWitnesses(client, node, bought, wait * 1_000))
  const evidence = await packEvidence({
    request: {
      method: request.method,
      url: request.url,
      contentType: request.headers['content-type'] ?? null,
      body: request.body,
    },
    result,
    directory: client.keyDirectory(node),
    ...(attestation ? { attestation } : {}),
    nowMs: Date.now(),
  })
  for (const path of paths) await writeFile(path, `${JSON.stringify(evidence, null, 2)}\n`)
  if (!attestation) return undefined
  const [signed, named] = [witnessesOf(attestation), attestation.log.witness_keys?.length ?? 0]
  if (signed > 0) return `${signed} of ${named} witnesses have signed the log over it`
  return 'no witness has signed the log over it yet: `assay verify` asks for one; fetch it again with `assay attestation --out`'
}

function resultDocument(delivery: Delivery, options: DeliverOptions, body: unknown, bytes: Uint8Array) {
  const { result, quote } = delivery
  return {
    status: result.response.status,
    content_type: result.response.headers.get('content-type'),
    ...(options.out !== undefined
      ? { out: options.out }
      : body === undefined
        ? { body_base64: Buffer.from(bytes).toString('base64') }
        : { answer: body }),
    payment: paymentDocument(result.payment, body, quote),
    verified: verifiedDocument(result.verified),
    receipt: receiptDocument(result.receipt),
    ...(options.save === undefined ? {} : { evidence: options.save }),
  }
}
