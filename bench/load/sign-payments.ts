import { randomBytes } from 'node:crypto'
import * as curve from 'tiny-secp256k1'
import type { Address } from '../../packages/protocol/src/address.ts'
import { type Hex, toHex } from '../../packages/protocol/src/bytes.ts'
import type { TransferAuthorization } from '../../packages/protocol/src/typed-data/transfer-authorization.ts'
import { createWalletKey } from '../../packages/till/src/chain/wallet/index.ts'
import { fromHex, sha256 } from '../../packages/till/src/kernel/bytes.ts'
import { hashTransferAuthorization, usdcDomainSeparator } from '../../packages/till/src/kernel/eip3009.ts'

/** One entry of `accepts` of a 402, and the resource it was asked for. */
export type BenchTerms = {
  resourceUrl: string
  accepted: {
    network: string
    amount: string
    asset: Address
    payTo: Address
    maxTimeoutSeconds: number
    extra: { name: string; version: string }
  }
}

export type SignedPayment = { authorization: TransferAuthorization; signature: Hex }

type Payer = { address: Address; secret: Uint8Array }

const payers: Payer[] = []

/** Wallets made from numbers: the same in every process, so that one side can fund what the other signs with. */
export function benchPayer(index: number): Payer {
  while (payers.length <= index) {
    const secret = sha256(`bench payer ${payers.length}`)
    payers.push({ secret, address: createWalletKey(toHex(secret)).address })
  }
  return payers[index] as Payer
}

/** Signs as a stock wallet does, only with a faster curve. */
export function signPayment(
  payer: Payer,
  { accepted }: BenchTerms,
  fixed: Partial<Pick<TransferAuthorization, 'nonce' | 'validBefore'>> = {},
): SignedPayment {
  const authorization: TransferAuthorization = {
    from: payer.address,
    to: accepted.payTo.toLowerCase() as Address,
    value: BigInt(accepted.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds),
    nonce: toHex(randomBytes(32)),
    ...fixed,
  }
  const address = accepted.asset.toLowerCase() as Address
  const domain = { ...accepted.extra, chainId: Number(accepted.network.split(':')[1]), address }
  const { signature, recoveryId } = curve.signRecoverable(
    hashTransferAuthorization(usdcDomainSeparator(domain), authorization),
    payer.secret,
  )
  return { authorization, signature: toHex(Buffer.concat([signature, fromHex(recoveryId === 0 ? '0x1b' : '0x1c')])) }
}

/** What a client sends: x402 version 2, scheme exact. */
export function paymentPayload({ accepted, resourceUrl }: BenchTerms, { authorization, signature }: SignedPayment) {
  return {
    x402Version: 2,
    resource: { url: resourceUrl, description: '', mimeType: 'application/json' },
    accepted,
    payload: {
      signature,
      authorization: {
        from: authorization.from,
        to: authorization.to,
        value: String(authorization.value),
        validAfter: String(authorization.validAfter),
        validBefore: String(authorization.validBefore),
        nonce: authorization.nonce,
      },
    },
  }
}

const payerCount = 2_000

/** Values of PAYMENT-SIGNATURE, from many payers in turn: one payer may have only a few payments in flight. */
export function signPayments(terms: BenchTerms, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const payload = paymentPayload(terms, signPayment(benchPayer(index % payerCount), terms))
    return Buffer.from(JSON.stringify(payload)).toString('base64')
  })
}
