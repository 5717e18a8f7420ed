import { parseAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import type { TransferAuthorization } from '@assay/protocol/typed-data/transfer-authorization'
import type { PaymentEnvelope, SchemeDecode, SchemePayment } from '../../contract/scheme.ts'
import { fields, own, uint } from '../read-fields.ts'

/** What the payer signed: an EIP-3009 authorization. */
export type ExactSigned = { authorization: TransferAuthorization; signature: Hex }
export type ExactSchemePayment = SchemePayment<ExactSigned>

const signatureBytesMax = 4_096

const malformed = (detail: string): SchemeDecode<ExactSigned> => ({ status: 'malformed', detail })

export function decodeExact(envelope: PaymentEnvelope): SchemeDecode<ExactSigned> {
  const { payload } = envelope
  if (!payload) return malformed('`payload` is missing')
  if (own(payload, 'permit2Authorization') !== undefined)
    return {
      status: 'unsupported',
      reason: 'unsupported_asset_transfer_method',
      detail: 'Sign EIP-3009; Permit2 is not taken here.',
    }
  const authorization = decodeAuthorization(fields(own(payload, 'authorization')))
  if (typeof authorization === 'string') return malformed(authorization)
  const signature = own(payload, 'signature')
  if (!isHex(signature) || signature.length < 4 || signature.length > 2 + signatureBytesMax * 2)
    return malformed('`payload.signature` is not hex of a sensible length')
  return {
    status: 'ok',
    payment: {
      envelope,
      network: envelope.network,
      payer: authorization.from,
      paymentKey: authorization.nonce,
      payTo: authorization.to,
      validBefore: authorization.validBefore,
      signed: { authorization, signature: signature.toLowerCase() as Hex },
    },
  }
}

function decodeAuthorization(value: Record<string, unknown> | undefined): TransferAuthorization | string {
  if (!value) return '`payload.authorization` is missing'
  const from = parseAddress(own(value, 'from'))
  const to = parseAddress(own(value, 'to'))
  const amount = uint(own(value, 'value'))
  const validAfter = uint(own(value, 'validAfter'))
  const validBefore = uint(own(value, 'validBefore'))
  const nonce = own(value, 'nonce')
  if (!from || !to) return '`payload.authorization` needs addresses in from and to'
  if (amount === undefined || validAfter === undefined || validBefore === undefined)
    return '`payload.authorization` needs value, validAfter and validBefore as decimal text'
  if (!isHex(nonce, 32)) return '`payload.authorization.nonce` must be 32 bytes of hex'
  return { from, to, value: amount, validAfter, validBefore, nonce: nonce.toLowerCase() as Hex }
}
