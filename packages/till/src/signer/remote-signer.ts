import type { Address } from '@assay/protocol/address'
import { parseJson } from '@assay/protocol/json-object'
import { requestDigest, SignerRefused, type SigningRequest, type WalletSigner } from '../chain/wallet/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { type Metrics, traced } from '../kernel/metrics.ts'
import { isSignedBy, type RecoverableSignature } from '../kernel/secp256k1.ts'
import type { SignerExchange } from './https-adapter.ts'
import {
  encodeSignRequest,
  keysAnswerSchema,
  refusalSchema,
  type SignerUse,
  signAnswerSchema,
  signerPaths,
} from './wire.ts'

export type RemoteSignerDeps = { exchange: SignerExchange; clock: Clock; log: Log; metrics: Metrics }

export type RemoteSigner = {
  /** The wallets it holds, by what they are for. */
  wallets(use: SignerUse): readonly WalletSigner[]
}

/** After so many failures in a row it is not asked again for a while, so that what waits for it fails at once. */
const failuresMax = 3
const pauseMsMin = 1_000
const pauseMsMax = 30_000

/** Wallets whose keys are at a signer over mutual TLS: this process never has them. */
export async function openRemoteSigner(deps: RemoteSignerDeps): Promise<RemoteSigner> {
  const ask = withBreaker(deps)
  const { keys } = keysAnswerSchema.parse(await ask('GET', signerPaths.keys))
  const wallet = (address: Address): WalletSigner => ({
    address,
    sign: async (request) =>
      checked(deps, address, request, await ask('POST', signerPaths.sign, encodeSignRequest(address, request))),
  })
  return { wallets: (use) => keys.filter((key) => key.use === use).map(({ address }) => wallet(address)) }
}

/** Nothing is believed: a signature that is not of this wallet over this request is never used. */
function checked(
  { log, metrics }: RemoteSignerDeps,
  address: Address,
  request: SigningRequest,
  answer: unknown,
): RecoverableSignature {
  const parsed = signAnswerSchema.safeParse(answer)
  const bytes = parsed.success ? Buffer.from(parsed.data.signature, 'hex') : Buffer.alloc(0)
  const recoveryId = parsed.success ? parsed.data.recovery_id : 0
  const whole = Buffer.concat([bytes, Buffer.from([27 + recoveryId])])
  if (!isSignedBy(address, requestDigest(request), whole)) {
    metrics.count('alarms', { alarm: 'signer_wrong_signature' })
    log.error({ wallet: address, kind: request.kind }, 'the signer gave a signature that is not of this wallet')
    throw new Error('the signer gave a wrong signature')
  }
  return { signature: bytes, recoveryId }
}

function withBreaker({ exchange, clock, log, metrics }: RemoteSignerDeps) {
  let failures = 0
  let pauseMs = pauseMsMin
  let pausedUntilMs = 0
  const failed = (reason: string) => {
    failures += 1
    if (failures >= failuresMax) {
      if (failures === failuresMax) {
        metrics.count('alarms', { alarm: 'signer_unavailable' })
        log.error({ reason }, 'the signer does not answer; payouts and settlements of our own wallets wait')
      }
      pausedUntilMs = clock.monotonicMs() + pauseMs
      pauseMs = Math.min(pauseMs * 2, pauseMsMax)
    }
    return new Error(`the signer does not answer: ${reason}`)
  }
  return async (method: 'GET' | 'POST', path: string, body?: string): Promise<unknown> => {
    if (clock.monotonicMs() < pausedUntilMs) throw new Error('the signer does not answer; it is asked again soon')
    const answer = await traced(metrics, 'signer', { path }, () =>
      exchange({ method, path, ...(body === undefined ? {} : { body }) }),
    ).catch((error: unknown) => {
      throw failed(error instanceof Error ? error.message : String(error))
    })
    if (answer.code >= 500) throw failed(`HTTP ${answer.code}`)
    failures = 0
    pauseMs = pauseMsMin
    const value = parseJson(answer.body)
    if (answer.code === 200) return value
    const refusal = refusalSchema.safeParse(value)
    throw new SignerRefused(refusal.success ? `${refusal.data.code}: ${refusal.data.detail}` : `HTTP ${answer.code}`)
  }
}
