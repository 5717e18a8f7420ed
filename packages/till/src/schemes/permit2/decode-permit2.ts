import { parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import {
  type Permit2Scheme,
  type Permit2Transfer,
  permit2Key,
  permit2Proxies,
} from '@assay/protocol/typed-data/permit2'
import type { PaymentEnvelope, SchemeDecode, SchemePayment } from '../../contract/scheme.ts'
import type { TokenPermit } from '../../facilitators/permit2-payment.ts'
import { fields, own, uint } from '../read-fields.ts'
import { readTokenPermit } from './gas-sponsoring.ts'

/** What the payer signed: a transfer through Permit2. */
export type Permit2Signed = { transfer: Permit2Transfer; signature: Hex; tokenPermit?: TokenPermit }
export type Permit2SchemePayment = SchemePayment<Permit2Signed>

const signatureBytesMax = 4_096

export function decodePermit2(scheme: Permit2Scheme, envelope: PaymentEnvelope): SchemeDecode<Permit2Signed> {
  const malformed = (detail: string): SchemeDecode<Permit2Signed> => ({ status: 'malformed', detail })
  const { payload } = envelope
  const permit = fields(own(payload, 'permit2Authorization'))
  if (!permit) return malformed('`payload.permit2Authorization` is missing')
  if (own(payload, 'authorization') !== undefined) return malformed('`payload` has two authorizations')
  const transfer = readTransfer(scheme, permit)
  if (typeof transfer === 'string') return malformed(transfer)
  const signature = own(payload, 'signature')
  if (!isHex(signature) || signature.length < 4 || signature.length > 2 + signatureBytesMax * 2)
    return malformed('`payload.signature` is not hex of a sensible length')
  const tokenPermit = readTokenPermit(envelope, transfer)
  if (typeof tokenPermit === 'string') return malformed(tokenPermit)
  return {
    status: 'ok',
    payment: {
      envelope,
      network: envelope.network,
      payer: transfer.from,
      paymentKey: permit2Key(transfer.nonce),
      payTo: transfer.to,
      // Permit2 still takes a permit in the second of its deadline.
      validBefore: transfer.deadline + 1n,
      signed: {
        transfer,
        signature: signature.toLowerCase() as Hex,
        ...(tokenPermit === undefined ? {} : { tokenPermit }),
      },
    },
  }
}

function readTransfer(scheme: Permit2Scheme, permit: Record<string, unknown>): Permit2Transfer | string {
  const permitted = fields(own(permit, 'permitted'))
  const witness = fields(own(permit, 'witness'))
  const [from, token, to] = [own(permit, 'from'), own(permitted, 'token'), own(witness, 'to')].map(parseAddress)
  const facilitator = parseAddress(own(witness, 'facilitator'))
  const [amount, validAfter] = [uint(own(permitted, 'amount')), uint(own(witness, 'validAfter'))]
  const [nonce, deadline] = [uint(own(permit, 'nonce')), uint(own(permit, 'deadline'))]
  if (parseAddress(own(permit, 'spender')) !== permit2Proxies[scheme])
    return '`permit2Authorization.spender` is not the x402 contract of the scheme'
  if (!from || !token || !to) return '`permit2Authorization` needs addresses in from, permitted.token and witness.to'
  if (amount === undefined || validAfter === undefined || nonce === undefined || deadline === undefined)
    return '`permit2Authorization` needs amount, nonce, deadline and validAfter as decimal text'
  if (scheme === 'exact') return { from, token, amount, nonce, deadline, to, validAfter }
  if (!facilitator) return '`permit2Authorization.witness.facilitator` is missing'
  return { from, token, amount, nonce, deadline, to, validAfter, facilitator }
}
