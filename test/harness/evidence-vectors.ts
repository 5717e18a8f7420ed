import { noteKey } from '../../packages/protocol/src/log/signed-note.ts'
import type { CitationAttestation, Evidence } from '../../packages/sdk/src/index.ts'
import { answered, attestUrl, echoUrl, plainUrl } from './evidence-answers.ts'
import {
  attest,
  introduction,
  keyOf,
  logKey,
  lower,
  operator,
  origin,
  type Published,
  responseKey,
  rotation,
  sourceUrl,
  start,
  state,
  witnesses,
} from './evidence-world.ts'

/** A file, how it is verified (`args` of `assay verify` and of clients/python), and what must come out. */
export type EvidenceVector = {
  name: string
  about: string
  args: string[]
  expected: { ok: boolean; failed: string[] }
  file: unknown
}

const id = 'att_01jcxk6v3q8m5r7t9w2y4z6a8c'
/** An attestation signed by the first keys, a minute after they were made. */
const byFirstKeys = { id, responseKey: 0, logKeys: [0], attestedAt: start + 60, witnessedAt: start + 62 }
const day = 86_400
const vkeys = witnesses.map(({ note }) => note.vkey)

/** Five rotations of each kind of key, by turns. The fourth key for answers was lost, and another named by the wallet alone. */
export async function fiveRotations() {
  const statements: Published[] = [await introduction()]
  for (const n of [0, 1, 2, 3, 4]) {
    const at = start + (n + 1) * day
    if (n !== 3) statements.push(await rotation('response', n, at))
    else
      statements.push(
        await state(
          { action: 'revoke', purpose: 'response', notBefore: at - day, notAfter: at - 3_600 },
          responseKey(3),
          {
            wallet: true,
          },
        ),
        await state({ action: 'add', purpose: 'response', notBefore: at }, responseKey(4), { wallet: true }),
      )
    statements.push(await rotation('log', n, at + 1_800, { treeSize: n + 1 }))
  }
  return { statements, lostAt: start + 4 * day - 3_600 }
}

const valid = (name: string, about: string, file: unknown, args: string[] = []): EvidenceVector => ({
  name,
  about,
  args,
  expected: { ok: true, failed: [] },
  file,
})

const invalid = (
  name: string,
  about: string,
  failed: string[],
  file: unknown,
  args: string[] = [],
): EvidenceVector => ({
  name,
  about,
  args,
  expected: { ok: false, failed },
  file,
})

/** A copy with one thing changed. */
function withChange<T>(file: T, change: (copy: T) => void): T {
  const copy = structuredClone(file)
  change(copy)
  return copy
}

export async function makeEvidenceVectors(): Promise<EvidenceVector[]> {
  const plain = await answered({ url: plainUrl, answer: { tokens: [], note: 'grüße' } })
  const paid = await answered({ url: echoUrl, answer: { echo: 'hello' }, paid: true })
  const first = attest({
    ...byFirstKeys,
    statements: [await introduction()],
    anchor: true,
  })
  const body = JSON.stringify({ source_url: sourceUrl })
  const { log: _log, ...rest } = first
  const bought = await answered({
    url: attestUrl,
    method: 'POST',
    body,
    answer: { ...rest, log: { state: 'pending', url: (rest as unknown as { url: string }).url } },
    paid: true,
    at: start + 60,
    statements: first.log.key_statements as Published[],
  })
  const whole: Evidence = { ...bought, attestation: first }
  return [
    ...validVectors(plain, paid, first, whole),
    ...brokenAnswers(plain, paid, whole),
    ...brokenAttestations(first, whole),
    ...(await rotated()),
  ]
}

function validVectors(plain: Evidence, paid: Evidence, first: CitationAttestation, whole: Evidence): EvidenceVector[] {
  const { attestation: _none, ...older } = plain
  return [
    valid('plain-answer', 'a free answer with the keys of that day', plain),
    valid('plain-answer-version-1', 'the same in version 1 of the format', { ...older, version: 1 }),
    valid('plain-answer-trusted-key', 'the key is one that the verifier knows', plain, [
      '--trust-key',
      responseKey(0).x,
    ]),
    valid('paid-answer', 'an answer with receipt and payment, bound to the request', paid),
    valid('attestation', 'an attestation by itself, as GET /v1/attestations/{id} gives it', first),
    valid('attestation-trusted-witnesses', 'both witnesses and the first key are known to the verifier', first, [
      ...vkeys.flatMap((vkey) => ['--witness', vkey]),
      '--trust-key',
      responseKey(0).keyId,
      '--policy',
      'witnesses=2of2,key-valid',
    ]),
    valid('paid-attestation', 'a citation that was bought: answer, receipt, payment and attestation', whole),
  ]
}

function brokenAnswers(plain: Evidence, paid: Evidence, whole: Evidence): EvidenceVector[] {
  const other = Buffer.from('{"tokens":[1]}').toString('base64')
  return [
    invalid('answer-changed', 'another body than was signed', ['signature'], {
      ...plain,
      response: { ...plain.response, body_base64: other },
    }),
    invalid('answer-status-changed', 'another status than was signed', ['signature'], {
      ...plain,
      response: { ...plain.response, status: 201 },
    }),
    invalid('request-changed', 'the answer to another question', ['signature'], {
      ...plain,
      request: { ...plain.request, url: plainUrl.replace('a%20b', 'c') },
    }),
    invalid(
      'answer-unsigned',
      'the signature was removed',
      ['signature'],
      withChange(plain, ({ response }) => {
        delete response?.headers['signature']
      }),
    ),
    invalid('answer-of-another-origin', 'the keys are of another origin than the answer', ['request'], {
      ...plain,
      keys: { ...plain.keys, origin: 'https://other.example' },
    }),
    invalid('answer-key-not-trusted', 'the verifier knows another key', ['signature'], plain, [
      '--trust-key',
      keyOf(0x66).x,
    ]),
    invalid('receipt-changed', 'the receipt is not the one in PAYMENT-RESPONSE', ['receipt'], {
      ...paid,
      receipt: paid.receipt?.replace(/.{4}$/, 'AAAA'),
    }),
    invalid('receipt-taken-out', 'PAYMENT-RESPONSE holds a receipt that the file leaves out', ['receipt'], {
      ...paid,
      receipt: null,
    }),
    invalid(
      'receipt-of-another-payer',
      'the receipt names another payer',
      ['receipt', 'payment'],
      withChange(paid, ({ payment }) => {
        if (payment) payment.authorization.from = lower(operator.address)
      }),
    ),
    invalid(
      'payment-changed',
      'another amount than the payer signed',
      ['payment'],
      withChange(paid, ({ payment }) => {
        if (payment) payment.authorization.value = '1'
      }),
    ),
    invalid(
      'payment-for-another-request',
      'the salt does not open the nonce',
      ['binding'],
      withChange(paid, ({ payment }) => {
        if (payment) payment.binding_salt = `0x${'00'.repeat(32)}`
      }),
    ),
    invalid(
      'request-body-changed',
      'another body than was paid for',
      ['binding'],
      withChange(whole, ({ request }) => {
        if (request) request.body_base64 = Buffer.from('{}').toString('base64')
      }),
    ),
    invalid('attestation-taken-out', 'the proof was left out: the answer is still an attestation', ['log'], {
      ...whole,
      attestation: null,
    }),
    invalid('attestation-of-another-sale', 'the attestation is not the one that was answered', ['answer'], {
      ...whole,
      attestation: otherAttestation(whole),
    }),
  ]
}

const otherAttestation = ({ attestation }: Evidence) =>
  attest({
    ...byFirstKeys,
    id: id.replace(/.$/, 'd'),
    statements: attestation?.log.key_statements as Published[],
  })

type Shown = { log: Record<string, unknown>; split: Record<string, unknown> }
const shown = (file: CitationAttestation) => file as unknown as Shown

function brokenAttestations(first: CitationAttestation, whole: Evidence): EvidenceVector[] {
  const note = String(first.log.checkpoint)
  const changed = (name: string, about: string, failed: string[], change: (file: CitationAttestation) => void) =>
    invalid(name, about, failed, withChange(first, change))
  return [
    changed('record-changed', 'another title than was attested', ['record', 'inclusion'], ({ record }) => {
      record['title'] = 'another'
    }),
    changed('attestation-changed', 'another salt than was signed', ['attestation'], ({ attestation }) => {
      attestation.sig.message.salt = `0x${'00'.repeat(32)}`
    }),
    changed(
      'attester-changed',
      'the statement about the attester is by another key',
      ['attester', 'keys', 'checkpoint', 'head_key'],
      ({ attestation, log }) => {
        attestation.public_key = responseKey(5).x
        log.key_statements = []
      },
    ),
    changed('shown-changed', 'a split that the record does not say', ['shown'], (file) => {
      shown(file).split['toll_micro'] = '0'
    }),
    changed('inclusion-changed', 'a path that does not lead to the root', ['inclusion'], ({ log }) => {
      log.inclusion_proof?.reverse()
    }),
    changed('head-forged', 'a head that the log did not sign', ['checkpoint', 'head_key'], ({ log }) => {
      log.checkpoint = note.replace(/— api\.node\.example\/v1\/log (.{20}).{4}/, '— api.node.example/v1/log $1AAAA')
    }),
    changed('anchor-of-another-tree', 'the head on chain is not of this tree', ['anchor'], (file) => {
      ;(shown(file).log['anchor'] as { root: string }).root = `0x${'00'.repeat(32)}`
    }),
    ...strippedVectors(first, whole),
    invalid('witness-not-trusted', 'the verifier knows another witness', ['witnesses'], first, [
      '--witness',
      vkeys[0] as string,
      '--witness',
      'witness.example/w3+5b9d0f55+BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ]),
    invalid('key-not-trusted', 'the verifier knows another key', ['keys', 'checkpoint', 'head_key'], first, [
      '--trust-key',
      keyOf(0x66).x,
    ]),
    invalid(
      'wallet-not-heard',
      'no statement of the wallet leads to the keys',
      ['keys', 'checkpoint', 'head_key'],
      first,
      ['--trust-wallet', operator.address],
    ),
    invalid(
      'validity-not-known',
      'whether keys were valid is not known by the file alone',
      ['keys', 'head_key'],
      first,
      ['--policy', 'logged,key-valid'],
    ),
  ]
}

/** Keys that signed nothing. */
const strangers = (name: string, type: number, count: number) =>
  Array.from({ length: count }, (_, n) => noteKey(name, type, keyOf(0x90 + n).x).vkey)

/** What is left of a sound file when somebody takes a part of its proof out. */
export function strippedVectors(first: CitationAttestation, whole: Evidence): EvidenceVector[] {
  const { url } = first as unknown as { url: string }
  const note = String(first.log.checkpoint)
  const without = (fields: Record<string, unknown>) =>
    withChange(first, (file) => void Object.assign(shown(file).log, fields))
  const stripped = (name: string, about: string, failed: string[], fields: Record<string, unknown>) =>
    invalid(name, about, failed, without(fields))
  const noWitness = without({ checkpoint: note.replaceAll(/— witness.*\n/g, ''), witnesses: [] })
  const noHead = ['checkpoint', 'head_key']
  return [
    invalid('stripped-log', 'says that it is not logged yet', ['log'], { ...first, log: { state: 'pending', url } }),
    invalid('stripped-log-inside', 'the same within evidence', ['log'], {
      ...whole,
      attestation: { ...first, log: { state: 'pending', url } },
    }),
    invalid('stripped-witnesses', 'no witness signed', ['witnesses'], noWitness),
    stripped('stripped-witness-list', 'witnesses signed, and the file lists none', ['witnesses'], { witnesses: [] }),
    stripped('stripped-witness-keys', 'nobody can say who signed', ['witnesses'], { witness_keys: [] }),
    stripped(
      'too-many-witness-keys',
      'no head has that many witnesses: each key costs the verifier a signature',
      ['witnesses'],
      { witness_keys: [...(first.log.witness_keys ?? []), ...strangers('witness.example', 4, 31)] },
    ),
    stripped('too-many-log-keys', 'no head has that many signers: each key costs the verifier a signature', noHead, {
      keys: [...(first.log.keys ?? []), ...strangers(origin, 1, 8)],
    }),
    stripped('stripped-statements', 'nothing leads to the key of the log', noHead, { key_statements: [] }),
    stripped('stripped-log-keys', 'the keys of the log are left out', noHead, { keys: [] }),
    invalid('claims-a-weaker-policy', 'a file cannot say what is enough', ['witnesses'], {
      ...noWitness,
      policy: 'logged',
      log: { ...noWitness.log, policy: 'logged' },
    }),
  ]
}

async function rotated(): Promise<EvidenceVector[]> {
  const { statements, lostAt } = await fiveRotations()
  const at = (responseKeyNumber: number, logKeys: number[], attestedAt: number, witnessedAt = attestedAt + 2) =>
    attest({ id, responseKey: responseKeyNumber, logKeys, attestedAt, witnessedAt, statements })
  const newest = at(5, [5], start + 6 * day)
  const middle = at(2, [2, 1], start + 2 * day + 2_000)
  const byKey = ['--trust-key', responseKey(0).x, '--policy', 'logged,key-valid']
  const byWallet = ['--trust-wallet', operator.address, '--policy', 'logged,key-valid']
  const later = await answered({ url: plainUrl, answer: { ok: true }, key: 5, at: start + 6 * day, statements })
  const onlyWallet = statements.filter(({ wallet_signature }) => wallet_signature !== null)
  return [
    valid('five-rotations', 'signed after five rotations of each key; the file alone', newest),
    valid('five-rotations-first-key', 'the verifier knows the first key', newest, byKey),
    valid('five-rotations-log-key', 'the first key for answers and the first of the log', newest, [
      ...byKey,
      '--trust-key',
      logKey(0).x,
    ]),
    valid('five-rotations-wallet', 'the verifier knows the wallet of the operator', newest, [...byWallet]),
    valid('five-rotations-middle', 'signed while one key of the log replaced another', middle, byKey),
    valid(
      'five-rotations-oldest-wallet',
      'signed by the first keys, which the wallet names as replaced',
      at(0, [0], start + 60),
      byWallet,
    ),
    valid('five-rotations-answer', 'an answer signed with the newest key', later, ['--trust-key', responseKey(0).x]),
    valid('revoked-later', 'a trusted witness had seen it before the key was lost', at(3, [3], lostAt - 100), [
      ...byWallet,
      '--witness',
      vkeys[0] as string,
    ]),
    invalid(
      'revoked-own-witness',
      'the key was lost, and only a witness that the file itself names had seen it before',
      ['keys'],
      at(3, [3], lostAt - 100),
      byWallet,
    ),
    invalid(
      'revoked-log-key-own-witness',
      'the key of the log was lost, and only a witness that the file itself names had seen the head before',
      ['head_key'],
      await lostLogKey(),
      byWallet,
    ),
    invalid(
      'wallet-names-another-node',
      'the wallet names the keys for another node of the same operator',
      ['keys', 'checkpoint', 'head_key'],
      await ofAnotherNode(),
      ['--trust-wallet', operator.address],
    ),
    valid('revoked-log-key-trusted-witness', 'a trusted witness had seen the head before', await lostLogKey(), [
      ...byWallet,
      '--witness',
      vkeys[0] as string,
    ]),
    invalid(
      'revoked-before-seen',
      'signed in time, it says, and seen by witnesses after the key was lost',
      ['keys'],
      at(3, [4], lostAt - 100, start + 4 * day + 2_000),
      byWallet,
    ),
    invalid(
      'retired-log-key',
      'the head was signed by a key of the log that had been replaced',
      ['head_key'],
      at(5, [1], start + 6 * day),
      byKey,
    ),
    invalid(
      'log-key-too-early',
      'a head bears a key that signs only larger trees',
      ['head_key'],
      await tooEarly(),
      byKey,
    ),
    invalid(
      'log-key-of-another-log',
      'the key of the log is named for another log',
      ['checkpoint', 'head_key'],
      await otherLog(),
    ),
    invalid(
      'response-key-in-the-log',
      'a key for answers does not sign heads',
      ['checkpoint', 'head_key'],
      await wrongPurpose(),
    ),
    invalid(
      'forged-rotation',
      'the rotation was not signed by the key before',
      ['keys', 'checkpoint', 'head_key'],
      withChange(newest, ({ log }) => {
        for (const one of log.key_statements as Published[]) {
          if (one.predecessor_signature !== null)
            one.predecessor_signature = one.predecessor_signature.replace(/^..../, 'AAAA')
        }
      }),
      byKey,
    ),
    invalid(
      'rotations-without-keys',
      'the first key of the log is named by a key only',
      ['checkpoint', 'head_key'],
      attest({
        ...byFirstKeys,
        statements: onlyWallet.filter(({ purpose }) => purpose === 'response'),
      }),
      byWallet,
    ),
  ]
}

/** The wallet names both keys, and takes that of the log back as of a day later. */
const lostLogKey = async () =>
  attest({
    ...byFirstKeys,
    statements: [
      await state({ action: 'add', purpose: 'response' }, responseKey(0), { wallet: true }),
      await state({ action: 'add', purpose: 'log' }, logKey(0), { wallet: true }),
      await state({ action: 'revoke', purpose: 'log', notAfter: start + day }, logKey(0), { wallet: true }),
    ],
  })

/** Signed with the keys of another node of the operator, under the name of this one. */
const ofAnotherNode = async () => {
  const other = { node: 'https://other.example', api: 'https://api.other.example' }
  return attest({
    ...byFirstKeys,
    statements: [
      await state({ action: 'add', purpose: 'response', ...other }, responseKey(0), { wallet: true }),
      await state({ action: 'add', purpose: 'log', ...other }, logKey(0), { wallet: true }),
    ],
  })
}

const tooEarly = async () =>
  attest({
    id,
    responseKey: 0,
    logKeys: [1],
    attestedAt: start + 2 * day,
    witnessedAt: start + 2 * day + 2,
    statements: [await introduction(), await rotation('log', 0, start + day, { treeSize: 1_000 })],
  })

const otherLog = async () =>
  attest({
    ...byFirstKeys,
    statements: [
      await state({ action: 'add', purpose: 'log', origin: `${origin}2` }, logKey(0), { predecessor: responseKey(0) }),
    ],
  })

const wrongPurpose = async () =>
  attest({
    ...byFirstKeys,
    statements: [
      await state({ action: 'rotate', purpose: 'response', predecessorUntil: start + day }, logKey(0), {
        predecessor: responseKey(0),
      }),
    ],
  })
