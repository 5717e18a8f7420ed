import { randomBytes } from 'node:crypto'
import * as curve from 'tiny-secp256k1'
import type { Address } from '../../packages/protocol/src/address.ts'
import { toHex } from '../../packages/protocol/src/bytes.ts'
import { permit2Digest, permit2Proxies } from '../../packages/protocol/src/typed-data/permit2.ts'
import { fromHex } from '../../packages/till/src/kernel/bytes.ts'
import { keccak256 } from '../../packages/till/src/kernel/keccak.ts'
import { type BenchTerms, benchPayer } from '../load/sign-payments.ts'

export type PermitTerms = BenchTerms & { accepted: { extra: { facilitatorAddress?: Address } } }

const payerCount = 2_000
const lower = (address: Address) => address.toLowerCase() as Address

/** Values of PAYMENT-SIGNATURE: permits of many payers in turn, signed as a wallet does, with a faster curve. */
export function signPermits({ accepted, resourceUrl }: PermitTerms, count: number): string[] {
  const { facilitatorAddress } = accepted.extra
  const scheme = facilitatorAddress === undefined ? 'exact' : 'upto'
  const named = facilitatorAddress === undefined ? {} : { facilitator: lower(facilitatorAddress) }
  return Array.from({ length: count }, (_, index) => {
    const { address: from, secret } = benchPayer(index % payerCount)
    const transfer = {
      ...{ from, token: lower(accepted.asset), amount: BigInt(accepted.amount), to: lower(accepted.payTo), ...named },
      nonce: BigInt(toHex(randomBytes(32))),
      deadline: BigInt(Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds),
      validAfter: 0n,
    }
    const digest = permit2Digest(scheme, Number(accepted.network.split(':')[1]), transfer, keccak256)
    const { signature, recoveryId } = curve.signRecoverable(digest, secret)
    const payload = {
      x402Version: 2,
      resource: { url: resourceUrl, description: '', mimeType: 'application/json' },
      accepted,
      payload: {
        signature: toHex(Buffer.concat([signature, fromHex(recoveryId === 0 ? '0x1b' : '0x1c')])),
        permit2Authorization: {
          from,
          permitted: { token: accepted.asset, amount: accepted.amount },
          spender: permit2Proxies[scheme],
          nonce: transfer.nonce.toString(),
          deadline: transfer.deadline.toString(),
          witness: { to: transfer.to, ...named, validAfter: '0' },
        },
      },
    }
    return Buffer.from(JSON.stringify(payload)).toString('base64')
  })
}
