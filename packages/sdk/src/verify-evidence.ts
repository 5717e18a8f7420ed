import { getAddress, recoverTypedDataAddress } from 'viem'
import { decodeHeader, fromBase64, isRecord } from './bytes.ts'
import { parseAttestation } from './citations/attestation-file.ts'
import { checkPromisedLeaf } from './citations/promised-leaf.ts'
import type { Evidence, EvidencePayment } from './evidence.ts'
import { receiptIn } from './receipt-in.ts'
import { bindingContentType, bindingNonce, bindingTag } from './request-binding.ts'
import { authorizationTypes } from './sign-payment.ts'
import { parseResponseSignatureInput } from './signature-input.ts'
import { isSameResource } from './spending-policy.ts'
import { type KeySet, readDirectory } from './trusted-keys.ts'
import { type Receipt, verifyReceipt } from './verify-receipt.ts'
import { type Verification, verifyResponse } from './verify-response.ts'

/** One thing that was looked at. `not_checked` is said aloud: silence would read as approval. */
export type EvidenceCheck = { name: string; status: 'passed' | 'failed' | 'not_checked'; detail: string }

export type EvidenceReport = {
  ok: boolean
  checks: EvidenceCheck[]
  /** Fields of the file that nothing signed vouches for, as `payouts[0].state`. */
  notCovered?: string[]
}

export type VerifyEvidenceOptions = {
  /** Keys from another source than the file: published by the node today, or kept from an earlier visit. */
  trustedDirectory?: unknown
}

const passed = (name: string, detail: string): EvidenceCheck => ({ name, status: 'passed', detail })
const failed = (name: string, detail: string): EvidenceCheck => ({ name, status: 'failed', detail })
const notChecked = (name: string, detail: string): EvidenceCheck => ({ name, status: 'not_checked', detail })

/** Checks an answer that was kept: as of the time it was signed, with nothing but the file and the given keys. */
export async function verifyEvidence(evidence: Evidence, options: VerifyEvidenceOptions = {}): Promise<EvidenceReport> {
  const directory = options.trustedDirectory ?? evidence.keys.directory
  const keys: KeySet = new Map(readDirectory(directory).keys.map((key) => [key.keyId, key]))
  const checks = [
    ...(await checkResponse(evidence, keys)),
    keysCheck(evidence, options.trustedDirectory !== undefined),
    ...(await checkReceipt(evidence, keys)),
    ...(await checkPayment(evidence)),
    notChecked('time', `when it was signed is the node's word; the file says it was saved ${evidence.saved_at}`),
  ]
  return { ok: checks.every((check) => check.status !== 'failed'), checks }
}

async function checkResponse(evidence: Evidence, keys: KeySet): Promise<EvidenceCheck[]> {
  const { request, response } = evidence
  const headers = new Headers(response.headers)
  const input = parseResponseSignatureInput(headers.get('signature-input') ?? '')
  const created = input?.params.get('created')
  const received = { status: response.status, headers, body: fromBase64(response.body_base64) }
  const verified = await verifyResponse({ method: request.method, url: request.url }, received, {
    keys,
    // An old answer is judged as of its own time; its keys are judged as of that time too.
    nowMs: typeof created === 'number' ? created * 1000 : 0,
  })
  if (verified.status !== 'verified') return [failed('signature', whyNot(verified))]
  const at = new Date(verified.created * 1000).toISOString()
  return [
    passed('signature', `status, body and headers were signed by ${verified.keyId} at ${at}`),
    passed('request', `it answers ${request.method} ${request.url}`),
    passed('digest', `the body is the one that was signed (${received.body?.byteLength ?? 0} bytes)`),
    passed('key', `the key was valid then and had not been revoked`),
  ]
}

function whyNot(verified: Exclude<Verification, { status: 'verified' }>): string {
  if (verified.status === 'unsigned') return 'the answer is not signed'
  if (verified.status === 'unknown_key') return `the key ${verified.keyId} is not among the keys`
  return verified.reason
}

function keysCheck(evidence: Evidence, fromElsewhere: boolean): EvidenceCheck {
  const { origin } = evidence.keys
  if (!fromElsewhere)
    return notChecked('keys', `they come from the file itself; whether they are those of ${origin} is not known`)
  return passed('keys', `they come from another source than the file`)
}

async function checkReceipt(evidence: Evidence, keys: KeySet): Promise<EvidenceCheck[]> {
  const { receipt, payment, response, request } = evidence
  if (receipt === null) return payment === null ? [] : [notChecked('receipt', 'the seller gave none')]
  const settlement = decodeHeader(new Headers(response.headers).get('payment-response') ?? '', 16_384)
  if (receiptIn(settlement) !== receipt) return [failed('receipt', 'it is not the one in PAYMENT-RESPONSE')]
  const outcome = await verifyReceipt(receipt, {
    keys,
    authority: new URL(request.url).host,
    ...(payment === null
      ? {}
      : { expected: { resourceUrl: payment.resource, payer: payment.authorization.from, network: payment.network } }),
  })
  if (outcome.status !== 'verified') return [failed('receipt', outcome.reason)]
  const { payer, network, transaction } = outcome.receipt
  if (
    payment !== null &&
    payment.transaction !== null &&
    transaction !== undefined &&
    transaction !== payment.transaction
  )
    return [failed('receipt', 'it names another transaction')]
  return [
    passed('receipt', `the seller signed that ${payer} paid on ${network} (transaction ${transaction ?? 'not named'})`),
    ...leafCheck(evidence, outcome.receipt),
  ]
}

/** An answer that is an attestation, and a receipt that names its place in a log. */
function leafCheck({ response }: Evidence, receipt: Receipt): EvidenceCheck[] {
  const file = parseAttestation(readBody(response.body_base64))
  if (file !== undefined) return [checkPromisedLeaf(receipt, file)]
  return receipt.log === undefined
    ? []
    : [failed('leaf', 'the receipt promises an entry that the answer does not show')]
}

function readBody(base64: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(fromBase64(base64)))
  } catch {
    return undefined
  }
}

async function checkPayment(evidence: Evidence): Promise<EvidenceCheck[]> {
  const { payment } = evidence
  if (payment === null) return []
  const { authorization } = payment
  const signer = await signerOf(payment)
  if (signer?.toLowerCase() !== authorization.from.toLowerCase())
    return [failed('payment', 'the authorization is not signed by the payer')]
  const settlement = decodeHeader(new Headers(evidence.response.headers).get('payment-response') ?? '', 16_384)
  return [
    passed('payment', `${authorization.from} authorized ${authorization.value} micro-USDC for ${authorization.to}`),
    bindingCheck(evidence, payment),
    notChecked('settlement', settlementText(payment, settlement)),
  ]
}

function settlementText(payment: EvidencePayment, settlement: Record<string, unknown> | undefined): string {
  const named = isRecord(settlement) && typeof settlement.transaction === 'string' ? settlement.transaction : undefined
  return `look up ${payment.transaction ?? named ?? 'the nonce'} on ${payment.network} to see the transfer itself`
}

async function signerOf(payment: EvidencePayment): Promise<string | undefined> {
  const { from, to, value, validAfter, validBefore, nonce } = payment.authorization
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

function bindingCheck({ request }: Evidence, payment: EvidencePayment): EvidenceCheck {
  const { nonce } = payment.authorization
  if (!nonce.toLowerCase().startsWith(bindingTag))
    return notChecked('binding', 'the payment does not name what it bought')
  if (payment.binding_salt === null) return notChecked('binding', 'the salt is missing, so the nonce cannot be opened')
  const nonceOfRequest = bindingNonce({
    method: request.method,
    resource: payment.resource,
    contentType: bindingContentType(request.content_type),
    body: fromBase64(request.body_base64) ?? new Uint8Array(),
    salt: payment.binding_salt,
  })
  const fits = nonceOfRequest === nonce.toLowerCase() && isSameResource(request.url, payment.resource)
  return fits
    ? passed('binding', "the payer's signature names this very request")
    : failed('binding', 'the payment was made for another request')
}
