import { getAddress, recoverTypedDataAddress } from 'viem/utils'
import { fromBase64 } from '../base64.ts'
import { sha256 } from '../hash.ts'
import { decodeHeader, isRecord } from '../json-object.ts'
import type { KeySet } from '../keys/key-directory.ts'
import { formatUsd } from '../money.ts'
import { type Receipt, verifyReceipt } from '../receipt.ts'
import { receiptInHeaders } from '../receipt-in-headers.ts'
import { bindingContentType, bindingNonce, bindingTag } from '../request-binding.ts'
import { isSameResource } from '../same-resource.ts'
import { parseResponseSignatureInput } from '../signatures/signature-input.ts'
import { type Verification, verifyResponse } from '../signatures/verify-response.ts'
import { authorizationTypes } from '../typed-data/transfer-authorization.ts'
import { type Finding, failed, notChecked, passed } from './attestation-file.ts'
import type { EvidenceExchange, EvidencePayment } from './evidence-file.ts'
import { checkPromisedLeaf } from './promised-leaf.ts'

/** An answer with its request, the receipt and the payment, checked as of the time it was signed. */
export async function checkExchange(evidence: EvidenceExchange, keys: KeySet): Promise<Finding[]> {
  return [
    ...(await checkResponse(evidence, keys)),
    ...(await checkReceipt(evidence, keys)),
    ...(await checkPayment(evidence)),
    {
      check: notChecked(
        'time',
        `when it was signed is the node's word; the file says it was saved ${evidence.saved_at}`,
      ),
    },
  ]
}

async function checkResponse(
  { request, response, keys: published }: EvidenceExchange,
  keys: KeySet,
): Promise<Finding[]> {
  const headers = new Headers(response.headers)
  const input = parseResponseSignatureInput(headers.get('signature-input') ?? '')
  const created = input?.params.get('created')
  const received = { status: response.status, headers, body: fromBase64(response.body_base64) }
  const verified = await verifyResponse({ method: request.method, url: request.url }, received, {
    keys,
    // An old answer is checked as of its own time, and so are its keys.
    nowMs: typeof created === 'number' ? created * 1000 : 0,
  })
  if (verified.status !== 'verified') return [{ check: failed('signature', whyNot(verified)) }]
  if (new URL(request.url).origin !== published.origin)
    return [{ check: failed('request', `the keys of the file are of ${published.origin}`) }]
  const at = new Date(verified.created * 1000).toISOString()
  const signed = ['signature', 'signature-input', ...(input?.components ?? []).map((id) => id.replaceAll('"', ''))]
  return [
    {
      check: passed('signature', `status, body and headers were signed by ${verified.keyId} at ${at}`),
      covers: ['response.status', 'response.body_base64', ...signed.map((name) => `response.headers.${name}`)],
    },
    {
      check: passed('request', `it answers ${request.method} ${request.url}`),
      covers: ['request.method', 'request.url', 'keys.origin'],
    },
    { check: passed('digest', `the body is the one that was signed (${received.body?.byteLength ?? 0} bytes)`) },
    { check: passed('key', `the key was valid then and had not been revoked`) },
  ]
}

function whyNot(verified: Exclude<Verification, { status: 'verified' }>): string {
  if (verified.status === 'unsigned') return 'the answer is not signed'
  if (verified.status === 'unknown_key') return `the key ${verified.keyId} is not among the keys`
  return verified.reason
}

async function checkReceipt(evidence: EvidenceExchange, keys: KeySet): Promise<Finding[]> {
  const { receipt, payment, response, request } = evidence
  const settlement = decodeHeader(new Headers(response.headers).get('payment-response') ?? '', 16_384)
  const wrong = (detail: string) => [{ check: failed('receipt', detail) }]
  if ((receiptInHeaders(settlement) ?? null) !== receipt) return wrong('it is not the one in PAYMENT-RESPONSE')
  if (receipt === null) return payment === null ? [] : [{ check: notChecked('receipt', 'the seller gave none') }]
  const outcome = await verifyReceipt(receipt, {
    keys,
    authority: new URL(request.url).host,
    ...(payment === null
      ? {}
      : { expected: { resourceUrl: payment.resource, payer: payment.authorization.from, network: payment.network } }),
  })
  if (outcome.status !== 'verified') return wrong(outcome.reason)
  const { payer, network, transaction } = outcome.receipt
  const named = payment?.transaction ?? undefined
  if (named !== undefined && transaction !== undefined && transaction !== named)
    return wrong('it names another transaction')
  const detail = `the seller signed that ${payer} paid on ${network} (transaction ${transaction ?? 'not named'})`
  return [
    {
      check: passed('receipt', detail),
      covers: ['receipt', ...(named !== undefined && named === transaction ? ['payment.transaction'] : [])],
    },
    ...leafFinding(evidence, outcome.receipt),
  ]
}

/** A receipt that names a place in a log binds the seller to it; the file has to show that entry. */
function leafFinding({ attestation }: EvidenceExchange, receipt: Receipt): Finding[] {
  if (receipt.log === undefined) return []
  if (attestation) return [{ check: checkPromisedLeaf(receipt, attestation) }]
  return [{ check: failed('leaf', 'the receipt promises an entry that the answer does not show') }]
}

async function checkPayment(evidence: EvidenceExchange): Promise<Finding[]> {
  const { payment } = evidence
  if (payment === null) return []
  const { authorization } = payment
  const signer = await signerOf(payment)
  if (signer?.toLowerCase() !== authorization.from.toLowerCase())
    return [{ check: failed('payment', 'the authorization is not signed by the payer') }]
  const settlement = decodeHeader(new Headers(evidence.response.headers).get('payment-response') ?? '', 16_384)
  return [
    {
      check: passed(
        'payment',
        `${authorization.from} authorized ${formatUsd(BigInt(authorization.value))} USD for ${authorization.to}`,
      ),
      covers: ['network', 'asset', 'asset_name', 'asset_version', 'signature', 'authorization.**'].map(
        (name) => `payment.${name}`,
      ),
    },
    bindingCheck(evidence, payment),
    { check: notChecked('settlement', settlementText(payment, settlement)) },
  ]
}

function settlementText(payment: EvidencePayment, settlement: Record<string, unknown> | undefined): string {
  const named = isRecord(settlement) && typeof settlement.transaction === 'string' ? settlement.transaction : undefined
  return `look up ${payment.transaction ?? named ?? 'the nonce'} on ${payment.network} to see the transfer itself`
}

async function signerOf(payment: EvidencePayment): Promise<string | undefined> {
  const { from, to, value, validAfter, validBefore, nonce } = payment.authorization
  if (!/^0x[0-9a-f]{128}(?:1b|1c)$/.test(payment.signature)) return undefined
  try {
    return await recoverTypedDataAddress({
      domain: {
        name: payment.asset_name,
        version: payment.asset_version,
        chainId: Number(payment.network.slice('eip155:'.length)),
        verifyingContract: getAddress(payment.asset.toLowerCase()),
      },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        from,
        to,
        value: BigInt(value),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
        nonce,
      },
      signature: payment.signature,
    })
  } catch {
    return undefined
  }
}

function bindingCheck({ request }: EvidenceExchange, payment: EvidencePayment): Finding {
  const { nonce } = payment.authorization
  if (!nonce.startsWith(bindingTag)) return { check: notChecked('binding', 'the payment does not name what it bought') }
  if (payment.binding_salt === null)
    return { check: notChecked('binding', 'the salt is missing, so the nonce cannot be opened') }
  const nonceOfRequest = bindingNonce({
    method: request.method.toUpperCase(),
    resource: payment.resource,
    contentType: bindingContentType(request.content_type),
    bodyDigest: sha256(fromBase64(request.body_base64) ?? new Uint8Array()),
    salt: payment.binding_salt,
  })
  if (nonceOfRequest !== nonce || !isSameResource(request.url, payment.resource))
    return { check: failed('binding', 'the payment was made for another request') }
  return {
    check: passed('binding', "the payer's signature names this request"),
    covers: ['request.body_base64', 'payment.resource', 'payment.binding_salt'],
  }
}
