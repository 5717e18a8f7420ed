import { thumbprint } from '@assay/protocol/keys/key-statement'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { type PrivateSigningKey, verifyEd25519 } from '../signing/signing-key.ts'
import { type SignerConnection, signerExchange } from './https-adapter.ts'
import { syncExchange } from './sync-exchange-adapter.ts'
import { keysAnswerSchema, type SigningKeyUse, signBytesAnswerSchema, signerPaths } from './wire.ts'

export type SigningKeysAtSigner = {
  load(use: SigningKeyUse): Promise<PrivateSigningKey[]>
  close(): Promise<void>
}

/** While it does not answer, nobody waits for it: what cannot be signed fails at once. */
const pauseMs = 1_000

/** Keys for answers and for the log that are at a signer over mutual TLS: this process never has them. */
export function openSigningKeys(
  connection: SignerConnection,
  { clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics },
): SigningKeysAtSigner {
  const ask = signerExchange(connection)
  const exchange = syncExchange(connection)
  let pausedUntilMs = Number.NEGATIVE_INFINITY

  const fetchSignature = (x: string, bytes: Uint8Array): Buffer => {
    if (clock.monotonicMs() < pausedUntilMs) throw new Error('the signer does not answer; it is asked again soon')
    const body = JSON.stringify({ x, bytes: Buffer.from(bytes).toString('base64') })
    try {
      const { code, body: text } = exchange.post(signerPaths.signBytes, body)
      if (code !== 200) throw new Error(`HTTP ${code}: ${text.slice(0, 200)}`)
      return Buffer.from(signBytesAnswerSchema.parse(JSON.parse(text)).signature, 'hex')
    } catch (error) {
      pausedUntilMs = clock.monotonicMs() + pauseMs
      metrics.count('alarms', { alarm: 'signer_unavailable' })
      log.error({ error: String(error) }, 'the signer did not sign; answers cannot be given')
      throw error
    }
  }

  const keyOf = (x: string): PrivateSigningKey => ({
    keyId: thumbprint(x),
    x,
    sign: (bytes) => {
      const signature = fetchSignature(x, bytes)
      if (verifyEd25519(x, bytes, signature)) return signature
      metrics.count('alarms', { alarm: 'signer_wrong_signature' })
      log.error({ key: x }, 'the signer gave a signature that is not of this key')
      throw new Error('the signer gave a wrong signature')
    },
  })

  return {
    load: async (use) => {
      const { code, body } = await ask({ method: 'GET', path: signerPaths.keys })
      if (code !== 200) throw new Error(`the signer answered HTTP ${code}`)
      const { signing_keys: keys } = keysAnswerSchema.parse(JSON.parse(body))
      return keys.filter((key) => key.use === use).map(({ x }) => keyOf(x))
    },
    close: () => exchange.close(),
  }
}
