import { createHash } from 'node:crypto'
import { authorizationTypes } from '../../packages/protocol/src/typed-data/transfer-authorization.ts'
import { bindingNonce, type Evidence, type EvidencePayment } from '../../packages/sdk/src/index.ts'
import { sha256 } from '../../packages/till/src/kernel/bytes.ts'
import { createFixedKeyring, createJwsSigner, createResponseSigner } from '../../packages/till/src/signing/index.ts'
import { keyDirectory } from '../../packages/till/src/signing/key-directory.ts'
import { apiUrl, buyer, chainId, clockAt, nodeUrl, type Published, responseKey, start } from './evidence-world.ts'

const asset = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const network = `eip155:${chainId}`
const transaction = `0x${'ab'.repeat(32)}` as const

type Ask = {
  url: string
  method?: string
  body?: string
  answer: unknown
  paid?: boolean
  key?: number
  at?: number
  statements?: readonly Published[]
}

/** One exchange with the node, as the client keeps it. */
export async function answered(ask: Ask): Promise<Evidence> {
  const { url, method = 'GET', body = '', paid = false, at = start } = ask
  const keyring = createFixedKeyring(responseKey(ask.key ?? 0), start * 1000)
  const payment = paid ? await pay(ask) : null
  const target = new URL(url)
  const receipt = payment === null ? null : receiptFor(ask, payment)
  const settlement = receipt && {
    success: true,
    payer: buyer.address,
    transaction,
    network,
    extensions: { 'offer-receipt': { info: { receipt: { format: 'jws', signature: receipt } } } },
  }
  const bytes = Buffer.from(JSON.stringify(ask.answer))
  const paymentResponse = settlement && Buffer.from(JSON.stringify(settlement)).toString('base64')
  const signed = createResponseSigner(keyring, { clock: clockAt(at) }).sign({
    status: 200,
    contentType: 'application/json',
    bodySha256: sha256(bytes),
    ...(paymentResponse ? { paymentResponse } : {}),
    method,
    authority: target.host,
    path: target.pathname,
    query: target.search === '' ? '?' : target.search,
  })
  return {
    format: 'assay-evidence',
    version: 2,
    saved_at: new Date((at + 2) * 1000).toISOString(),
    request: {
      method,
      url,
      content_type: body === '' ? null : 'application/json',
      body_base64: Buffer.from(body).toString('base64'),
    },
    response: {
      status: 200,
      headers: {
        'content-type': 'application/json',
        date: new Date(at * 1000).toUTCString(),
        ...(paymentResponse ? { 'payment-response': paymentResponse } : {}),
        ...signed,
      },
      body_base64: bytes.toString('base64'),
    },
    keys: {
      origin: target.origin,
      directory: { ...keyDirectory(keyring), statements: [...(ask.statements ?? [])] },
    },
    payment,
    receipt,
    attestation: null,
  }
}

async function pay({ url, method = 'GET', body = '' }: Ask): Promise<EvidencePayment> {
  const salt = `0x${'5a'.repeat(32)}` as const
  const nonce = bindingNonce({
    method,
    resource: url,
    contentType: body === '' ? '' : 'application/json',
    bodyDigest: createHash('sha256').update(body).digest(),
    salt,
  })
  const to = '0x9a9A9A9a9A9A9A9A9a9A9a9A9a9a9A9a9a9A9A9A'.toLowerCase() as `0x${string}`
  const message = { from: buyer.address, to, value: 5_000n, validAfter: 0n, validBefore: BigInt(start + 300), nonce }
  const signature = await buyer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: asset },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  return {
    resource: url,
    network,
    asset,
    asset_name: 'USD Coin',
    asset_version: '2',
    transaction,
    authorization: {
      from: buyer.address,
      to,
      value: '5000',
      validAfter: '0',
      validBefore: String(start + 300),
      nonce,
    },
    signature,
    binding_salt: salt,
  }
}

function receiptFor({ url, key = 0, at = start }: Ask, payment: EvidencePayment): string {
  const keyring = createFixedKeyring(responseKey(key), start * 1000)
  const jws = createJwsSigner(keyring, { authority: new URL(url).host, clock: clockAt(at) })
  const { resource, authorization } = payment
  const receipt = { version: 1, network, resourceUrl: resource, payer: authorization.from, issuedAt: at, transaction }
  return jws.sign(JSON.stringify(receipt))
}

export const plainUrl = `${nodeUrl}/v1/tokens?q=a%20b`
export const echoUrl = `${nodeUrl}/v1/sandbox/echo?message=hello`
export const attestUrl = `${apiUrl}/v1/cite/attest`
