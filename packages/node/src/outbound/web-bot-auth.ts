import { signatureBase } from '@assay/protocol/signatures/signature-base'
import type { Clock } from '@assay/till/kernel/clock'
import type { Rng } from '@assay/till/kernel/random'
import { createResponseSigner, type Keyring } from '@assay/till/signing'

export type BotAuthOptions = {
  keyring: Keyring
  clock: Clock
  rng: Rng
  /** Origin that serves /.well-known/http-message-signatures-directory. */
  directoryOrigin: string
}

const validSeconds = 60

/** Web Bot Auth: a site can check that a request with our User-Agent is ours (RFC 9421, tag `web-bot-auth`). */
export function createBotAuth(options: BotAuthOptions) {
  const { keyring, clock, rng, directoryOrigin } = options
  const signer = createResponseSigner(keyring, { clock })
  const agent = `"${directoryOrigin}"`
  return ({ authority, userAgent }: { authority: string; userAgent: string }): Record<string, string> => {
    const created = Math.floor(clock.nowMs() / 1000)
    const nonce = Buffer.from(rng.bytes(32)).toString('base64')
    const inner = `("@authority" "signature-agent" "user-agent");created=${created};expires=${created + validSeconds};keyid="${keyring.active().keyId}";alg="ed25519";nonce="${nonce}";tag="web-bot-auth"`
    const base = signatureBase(
      [
        { id: '"@authority"', value: authority.toLowerCase() },
        { id: '"signature-agent"', value: agent },
        { id: '"user-agent"', value: userAgent },
      ],
      inner,
    )
    const { signature } = signer.signBytes(Buffer.from(base))
    return {
      'signature-agent': agent,
      'signature-input': `sig1=${inner}`,
      signature: `sig1=:${Buffer.from(signature).toString('base64')}:`,
    }
  }
}
