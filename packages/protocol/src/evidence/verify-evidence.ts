import { tryCanonicalJson } from '../canonical-json.ts'
import { decodeJson } from '../json-object.ts'
import { earlier } from '../keys/follow-keys.ts'
import type { KeySet } from '../keys/key-directory.ts'
import { type CitationAttestation, type Finding, failed, notChecked, passed } from './attestation-file.ts'
import { checkExchange } from './check-exchange.ts'
import { uncoveredFields } from './coverage.ts'
import type { Evidence, EvidenceExchange } from './evidence-file.ts'
import { directoryStatements, type FileKeys, type ResolvedKeys, resolveKeys } from './resolve-keys.ts'
import {
  attestationFindings,
  attestationKeys,
  type VerifyAttestationOptions,
  verifyAttestation,
} from './verify-attestation.ts'

/** One finding. What was not checked is listed as `not_checked`, since leaving it out would read as approval. */
export type EvidenceCheck = { name: string; status: 'passed' | 'failed' | 'not_checked'; detail: string }

export type EvidenceReport = {
  ok: boolean
  checks: EvidenceCheck[]
  /** Fields of the file that nothing signed vouches for, as `payouts[0].state`. */
  notCovered?: string[]
}

export type VerifyEvidenceOptions = VerifyAttestationOptions

/** Checks what was kept: as of the time it was signed, with nothing but the file and what is trusted. */
export async function verifyEvidence(evidence: Evidence, options: VerifyEvidenceOptions = {}): Promise<EvidenceReport> {
  const { attestation } = evidence
  // An attestation by itself is shown with its own names of fields.
  if (evidence.saved_at === null && attestation) return verifyAttestation(attestation, options)
  const resolved = await resolveKeys(keysOf(evidence), options)
  const exchange = isExchange(evidence) ? await checkExchange(evidence, answerKeys(resolved)) : []
  const attested = attestation ? await attestationFindings(attestation, resolved, options) : []
  const findings = [
    ...exchange,
    ...(exchange.length > 0 && attestation ? [checkAnswer(evidence, attestation)] : []),
    keysFinding(evidence, resolved, attested, options),
    ...attested.filter(({ check }) => check.name !== 'keys').map(within('attestation')),
  ]
  const checks = findings.map(({ check }) => check)
  const covers = ['format', 'version', ...resolved.covers, ...findings.flatMap(({ covers }) => covers ?? [])]
  const open = uncoveredFields(shown(evidence), covers)
  return {
    ok: checks.every((check) => check.status !== 'failed'),
    checks,
    notCovered: [...new Set(open.map((path) => (/^keys\.directory\b/.test(path) ? 'keys.directory' : path)))],
  }
}

const isExchange = (evidence: Evidence): evidence is EvidenceExchange =>
  evidence.request !== null && evidence.response !== null

/** Without what is there only to say that it is not. */
const shown = (evidence: Evidence) => Object.fromEntries(Object.entries(evidence).filter(([, value]) => value !== null))

const within =
  (place: string) =>
  ({ check, covers = [] }: Finding): Finding => ({ check, covers: covers.map((path) => `${place}.${path}`) })

function keysOf({ keys, attestation }: Evidence): FileKeys {
  const own = { at: 'keys.directory.statements', list: directoryStatements(keys.directory) }
  if (!attestation) return { homes: [keys.origin], directory: keys.directory, statements: [own] }
  const attested = attestationKeys(attestation, 'attestation.')
  return {
    ...attested,
    homes: [keys.origin, ...attested.homes],
    directory: keys.directory,
    statements: [...attested.statements, own],
  }
}

/** Keys that sign answers, with the end that counts. */
const answerKeys = ({ keys }: ResolvedKeys): KeySet =>
  new Map(
    [...keys.values()]
      .filter(({ purpose }) => purpose === 'response')
      .map((key) => [key.keyId, { ...key, notAfter: earlier(key.notAfter, key.revokedAt) }]),
  )

/** The attestation may have been read again since: the same record, under the same signature. */
function checkAnswer({ response }: Evidence, { record, attestation }: CitationAttestation): Finding {
  const answer = decodeJson(response?.body_base64 ?? '') ?? {}
  const same =
    tryCanonicalJson(answer.record) === tryCanonicalJson(record) &&
    tryCanonicalJson(answer.attestation) === tryCanonicalJson(attestation)
  return {
    check: same
      ? passed('answer', 'the attestation is the one that was answered')
      : failed('answer', 'the attestation is another one than was answered'),
  }
}

/** One finding for all keys, which includes that of the attestation. */
function keysFinding(
  evidence: Evidence,
  { trusted, source }: ResolvedKeys,
  attested: readonly Finding[],
  { policy }: VerifyEvidenceOptions,
): Finding {
  const own = attested.find(({ check }) => check.name === 'keys')
  if (own) return own
  if (trusted) return { check: passed('keys', `they follow from ${source}`) }
  const detail = `they come from the file itself; whether they are those of ${evidence.keys.origin} is not known`
  return { check: (policy?.keyValid ? failed : notChecked)('keys', detail) }
}
