import { contentDigest, signatureBase } from '@assay/protocol/signatures/signature-base'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import { createResponseSigner, type Keyring } from '@assay/till/signing'
import type { Outbound, OutboundOutcome } from '../outbound/index.ts'
import type { Channel, Outcome } from './channel.ts'

export type WebhookDeps = {
  outbound: Outbound
  keyring: Keyring
  clock: Clock
  /** Demo only: names under .test that lead to this machine have no certificate. */
  plainHttp: boolean
}

const [totalMs, answerBytesMax] = [10_000, 4_096]
const contentType = 'application/cloudevents+json'

/** POST of a CloudEvent, the request signed by the key of the node (RFC 9421) over target, type, id and digest. */
export function createWebhook(deps: WebhookDeps): Channel {
  const signer = createResponseSigner(deps.keyring, { clock: deps.clock })
  const post = (target: string, id: string, body: string) =>
    deps.outbound.fetch(target, {
      method: 'POST',
      body,
      headers: signedHeaders(deps, signer, target, id, body),
      maxBytes: answerBytesMax,
      onTooLarge: 'cut',
      totalMs,
      redirectsMax: 0,
      plainHttp: deps.plainHttp,
    })
  return {
    send: async (target, { id, json }) => outcomeOf(await post(target, headerOf(id), json)),
    challenge: async (target, code) => {
      const body = JSON.stringify({ type: 'assay.notification.challenge', challenge: code })
      const answer = await post(target, `challenge:${code.slice(0, 4)}`, body)
      return answer.status === 'ok' && answer.httpStatus === 200 && echoes(answer.bytes, code)
        ? { status: 'proven' }
        : outcomeOf(answer)
    },
  }
}

function signedHeaders(
  { clock, keyring }: WebhookDeps,
  signer: ReturnType<typeof createResponseSigner>,
  target: string,
  id: string,
  body: string,
): Record<string, string> {
  const created = Math.floor(clock.nowMs() / 1000)
  const digest = contentDigest(sha256(body))
  const inner = `("@method" "@target-uri" "content-type" "content-digest" "webhook-id");created=${created};expires=${created + 300};keyid="${keyring.active().keyId}";alg="ed25519";tag="assay-webhook"`
  const base = signatureBase(
    [
      { id: '"@method"', value: 'POST' },
      { id: '"@target-uri"', value: target },
      { id: '"content-type"', value: contentType },
      { id: '"content-digest"', value: digest },
      { id: '"webhook-id"', value: id },
    ],
    inner,
  )
  const { signature } = signer.signBytes(Buffer.from(base))
  return {
    'content-type': contentType,
    'content-digest': digest,
    'webhook-id': id,
    'signature-input': `sig1=${inner}`,
    signature: `sig1=:${Buffer.from(signature).toString('base64')}:`,
  }
}

/** Ids may hold any text; a header holds visible ASCII. */
const headerOf = (id: string) => id.replace(/[^\x21-\x7e]+/g, encodeURIComponent)

function outcomeOf(answer: OutboundOutcome): Outcome {
  if (answer.status !== 'ok') return { status: answer.status, detail: answer.reason }
  if (answer.httpStatus >= 200 && answer.httpStatus < 300) return { status: 'sent' }
  return { status: answer.httpStatus === 410 ? 'gone' : 'failed', detail: `http ${answer.httpStatus}` }
}

function echoes(bytes: Uint8Array, code: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    return (value as { challenge?: unknown } | null)?.challenge === code
  } catch {
    return false
  }
}
