import { sha256 as sha256Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  attestationPackage,
  createCitationAttester,
} from '../../packages/node/src/shops/attestations/attest/attester.ts'
import { signRecord } from '../../packages/node/src/shops/attestations/attest/sign-record.ts'
import { cosign, noteLine } from '../../packages/node/src/tlog/sign-note.ts'
import { growTiles, hashRanges, tileKey } from '../../packages/node/src/tlog/tiles.ts'
import { leafHash } from '../../packages/node/src/tlog/tree-hash.ts'
import { type Address, zeroAddress } from '../../packages/protocol/src/address.ts'
import { canonicalJson, type Json } from '../../packages/protocol/src/canonical-json.ts'
import {
  type KeyPurpose,
  type KeyStatementMessage,
  keyStatementTypedData,
  predecessorBytes,
  publishedStatement,
} from '../../packages/protocol/src/keys/key-statement.ts'
import { checkpointText } from '../../packages/protocol/src/log/checkpoint.ts'
import { consistencyRanges, inclusionRanges } from '../../packages/protocol/src/log/merkle.ts'
import { noteKey, signatureTypes } from '../../packages/protocol/src/log/signed-note.ts'
import { zeroBytes32 } from '../../packages/protocol/src/typed-data/eas.ts'
import { type CitationAttestation, parseAttestation } from '../../packages/sdk/src/index.ts'
import type { Clock } from '../../packages/till/src/kernel/clock.ts'
import { createFixedKeyring, createJwsSigner, privateKeyFromSeed } from '../../packages/till/src/signing/index.ts'
import { type LocalSigningKey, signEd25519 } from '../../packages/till/src/signing/signing-key.ts'

/** A node whose keys, times and money are all fixed, so that whatever it signs is the same each time. */
export const nodeUrl = 'https://node.example'
export const apiUrl = 'https://api.node.example'
export const origin = 'api.node.example/v1/log'
export const chainId = 8453
export const start = 1_800_000_000

export const keyOf = (byte: number): LocalSigningKey => privateKeyFromSeed(Buffer.alloc(32, byte).toString('base64url'))
export const responseKey = (n: number) => keyOf(0x10 + n)
export const logKey = (n: number) => keyOf(0x40 + n)
export const operator = privateKeyToAccount(`0x${'0e'.repeat(32)}`)
export const buyer = privateKeyToAccount(`0x${'0b'.repeat(32)}`)
export const creator = privateKeyToAccount(`0x${'0c'.repeat(32)}`)
export const lower = (address: string) => address.toLowerCase() as Address

export const clockAt = (seconds: number): Clock => ({
  nowMs: () => seconds * 1000,
  monotonicMs: () => seconds * 1000,
  sleep: async () => {},
})

export const witnesses = [0x71, 0x72].map((byte, index) => {
  const key = keyOf(byte)
  const name = `witness.example/w${index + 1}`
  return { key, note: noteKey(name, signatureTypes.cosignature, key.x) }
})

export type Published = ReturnType<typeof publishedStatement>

/** A statement about `key`, signed by the key before it where one is given and by the operator where asked. */
export async function state(
  message: Pick<KeyStatementMessage, 'action' | 'purpose'> & Partial<KeyStatementMessage>,
  key: LocalSigningKey,
  by: { predecessor?: LocalSigningKey; wallet?: boolean },
): Promise<Published> {
  const whole: KeyStatementMessage = {
    keyId: key.keyId,
    publicKey: key.x,
    notBefore: start,
    notAfter: 0,
    node: nodeUrl,
    api: apiUrl,
    origin: message.purpose === 'log' ? origin : '',
    treeSize: 0,
    operator: by.wallet ? lower(operator.address) : zeroAddress,
    predecessor: by.predecessor?.keyId ?? '',
    predecessorUntil: 0,
    ...message,
  }
  return publishedStatement({
    message: whole,
    chainId,
    walletSignature: by.wallet ? await operator.signTypedData(keyStatementTypedData(whole, chainId)) : null,
    predecessorSignature: by.predecessor
      ? signEd25519(by.predecessor, predecessorBytes(whole, chainId)).toString('base64url')
      : null,
  })
}

export const introduction = () =>
  state({ action: 'add', purpose: 'log', notBefore: start }, logKey(0), { predecessor: responseKey(0) })

/** From one key to the next, by both. */
export const rotation = (
  purpose: KeyPurpose,
  from: number,
  at: number,
  more: Partial<KeyStatementMessage> = {},
): Promise<Published> => {
  const key = purpose === 'log' ? logKey : responseKey
  return state(
    { action: 'rotate', purpose, notBefore: at, predecessorUntil: at + (purpose === 'log' ? 600 : 60), ...more },
    key(from + 1),
    { predecessor: key(from), wallet: true },
  )
}

const statementEntry = (one: Published) =>
  Buffer.from(canonicalJson({ type: 'assay.key_statement/v1', ...one } as unknown as Json))

export type AttestPlan = {
  id: string
  /** Which keys sign, and when. */
  responseKey: number
  logKeys: readonly number[]
  attestedAt: number
  witnessedAt: number
  statements: readonly Published[]
  /** Leaves beside the statements, before and after the record. */
  before?: number
  after?: number
  anchor?: boolean
}

export const sourceUrl = 'https://glossary.example/short-squeeze'

/** An attestation with its proof, as GET /v1/attestations/{id} gives it. */
export function attest(plan: AttestPlan): CitationAttestation {
  const key = responseKey(plan.responseKey)
  const signed = signCitation(plan, key)
  const leaves = [
    ...plan.statements.map(statementEntry),
    ...fill('before', plan.before ?? 3),
    Buffer.from(signed.text),
    ...fill('after', plan.after ?? 5),
  ]
  const index = plan.statements.length + (plan.before ?? 3)
  const record = JSON.parse(signed.text) as Record<string, string>
  const payout = {
    domain: record['domain'],
    wallet: record['creator_wallet'],
    micro: record['creator_micro'],
    network: record['network'],
    state: 'waiting',
    note: 'waits for the next payout',
    follow: `${apiUrl}/v1/creators/${record['creator_wallet']}`,
  }
  const view = parseAttestation({
    id: plan.id,
    url: `${apiUrl}/v1/attestations/${plan.id}`,
    record,
    attestation: attestationPackage(signed.message, signed.signed),
    split: {
      price_micro: record['price_micro'],
      creator_micro: record['creator_micro'],
      toll_micro: record['toll_micro'],
    },
    payouts: [payout],
    weight: { counts: true, reasons: [] },
    log: prove(plan, leaves, index),
  })
  if (!view) throw new Error('not an attestation')
  return view
}

const fill = (name: string, count: number) => Array.from({ length: count }, (_, n) => Buffer.from(`${name} ${n}`))

function signCitation({ id, attestedAt }: AttestPlan, key: LocalSigningKey) {
  const keyring = createFixedKeyring(key, start * 1000)
  const jws = createJwsSigner(keyring, { authority: new URL(nodeUrl).host, clock: clockAt(attestedAt) })
  const port = { sign: (payload: unknown) => jws.sign(JSON.stringify(payload)), verify: () => undefined }
  const attester = createCitationAttester({ keyring, jws: port, node: apiUrl, chainId })
  const [content, text] = [sha256Hex(Buffer.from('content')), sha256Hex(Buffer.from('text'))]
  const record = {
    type: 'assay.citation/v1',
    id,
    node: apiUrl,
    source_url: sourceUrl,
    title: 'Short squeeze – a “definition”',
    http_status: 200,
    content_sha256: content,
    text_sha256: text,
    quote: null,
    claim_sha256: null,
    agent_wallet: buyer.address,
    payer: buyer.address,
    creator_wallet: creator.address,
    domain: 'glossary.example',
    cite_score: 61.5,
    network: `eip155:${chainId}`,
    payment_id: 'pay_01jcxk6v3q8m5r7t9w2y4z6a8c',
    transaction: `0x${'ab'.repeat(32)}`,
    price_micro: '5000',
    creator_micro: '4500',
    toll_micro: '500',
    attested_at: new Date(attestedAt * 1000).toISOString(),
  }
  const data = {
    sourceUrl,
    contentSha256: content,
    textSha256: text,
    quoteSha256: zeroBytes32,
    claimSha256: zeroBytes32,
    agent: lower(buyer.address),
    payer: lower(buyer.address),
    priceMicro: 5_000n,
  }
  return signRecord(attester, { id, record, data, recipient: lower(creator.address), seconds: attestedAt })
}

const base64 = (bytes: Buffer) => bytes.toString('base64')

function prove(plan: AttestPlan, leaves: readonly Buffer[], index: number) {
  const hashes = leaves.map((leaf) => leafHash(leaf))
  const tiles = new Map(growTiles(0, new Map(), hashes).map((tile) => [tileKey(tile), tile.hashes]))
  const root = (size: number) => hashRanges([{ from: 0, until: size }], tiles)[0] as Buffer
  const size = leaves.length
  const text = checkpointText({ origin, size, root: root(size) })
  const keys = plan.logKeys.map((n) => ({
    private: logKey(n).sign,
    note: noteKey(origin, signatureTypes.ed25519, logKey(n).x),
  }))
  const lines = keys.map((key) => noteLine(text, key.note, key.private))
  const cosigned = witnesses.map(({ key, note }, n) => cosign(text, note, key.privateKey, plan.witnessedAt + n))
  const anchorSize = index + 2
  return {
    state: 'logged',
    origin,
    leaf_index: String(index),
    leaf_hash: base64(hashes[index] as Buffer),
    tree_size: String(size),
    inclusion_proof: hashRanges(inclusionRanges(index, size), tiles).map(base64),
    checkpoint: `${text}\n${[...lines, ...cosigned].join('')}`,
    witnesses: witnesses.map(({ note }, n) => ({
      name: note.name,
      cosigned_at: new Date((plan.witnessedAt + n) * 1000).toISOString(),
    })),
    keys: keys.map(({ note }) => note.vkey),
    witness_keys: witnesses.map(({ note }) => note.vkey),
    key_statements: plan.statements,
    ...(plan.anchor
      ? {
          anchor: {
            network: `eip155:${chainId}`,
            contract: `0x${'aa'.repeat(20)}`,
            transaction: `0x${'cd'.repeat(32)}`,
            size: String(anchorSize),
            root: `0x${root(anchorSize).toString('hex')}`,
            consistency_proof: hashRanges(consistencyRanges(anchorSize, size), tiles).map(base64),
          },
        }
      : {}),
  }
}
