import { wasValid } from '../keys/follow-keys.ts'
import { attesterCheck } from '../token-report/verify-report.ts'
import { type CitationAttestation, type Finding, failed, guarded, notChecked, passed } from './attestation-file.ts'
import { checkLog, type LoggedHead, readHead } from './check-log.ts'
import { checkRecord, checkSignature } from './check-record.ts'
import { checkShown } from './check-shown.ts'
import { uncoveredFields } from './coverage.ts'
import type { VerifyPolicy } from './policy.ts'
import { type EvidenceTrust, type FileKeys, type ResolvedKeys, resolveKeys } from './resolve-keys.ts'
import type { EvidenceReport } from './verify-evidence.ts'

export type VerifyAttestationOptions = EvidenceTrust & {
  /** Keys of witnesses you trust, as `name+id+base64`. All must have signed, unless the policy says how many. */
  witnesses?: readonly string[]
  /** Tree heads that you read on chain; the root in hex. */
  anchors?: readonly { size: number; root: string }[]
  /**
   * Decides what is enough. Without one, the record must be in the log under a head that at least one witness signed, by a
   * key in the file where you name none.
   */
  policy?: VerifyPolicy | undefined
  /** The time to measure the age by; a policy with an age fails without it. */
  nowMs?: number
}

/** Checks an attestation with nothing but its own bytes and what is trusted. */
export async function verifyAttestation(
  file: CitationAttestation,
  options: VerifyAttestationOptions = {},
): Promise<EvidenceReport> {
  const resolved = await resolveKeys(attestationKeys(file, ''), options)
  const findings = await attestationFindings(file, resolved, options)
  const checks = findings.map(({ check }) => check)
  return {
    ok: checks.every((check) => check.status !== 'failed'),
    checks,
    notCovered: uncoveredFields(file, [...findings.flatMap(({ covers }) => covers ?? []), ...resolved.covers]),
  }
}

/** What the file says about keys; `at` is the place of the attestation in it. */
export function attestationKeys(file: CitationAttestation, at: string): FileKeys {
  return {
    homes: [file.record.node],
    statements: [{ at: `${at}log.key_statements`, list: file.log.key_statements }],
    responseKeys: [String(file.attestation.public_key)],
  }
}

export async function attestationFindings(
  file: CitationAttestation,
  resolved: ResolvedKeys,
  options: VerifyAttestationOptions,
): Promise<Finding[]> {
  const logged = await readHead(file, options).catch(() => undefined)
  return [
    ...(await Promise.all([
      guarded('record', () => checkRecord(file)),
      guarded('attestation', () => checkSignature(file)),
      guarded('attester', () => checkAttester(file)),
      guarded('shown', () => checkShown(file)),
      guarded('keys', () => checkKey(file, logged, resolved, options)),
    ])),
    ...(await checkLog(file, logged, resolved, options)),
    ...checkAge(file, options),
    { check: notChecked('truth', 'that these bytes were served and paid for is attested, never that they are true') },
  ]
}

async function checkAttester({ attestation, record }: CitationAttestation): Promise<Finding> {
  const { signer, key_id, public_key, attester_statement, sig } = attestation
  const check = await attesterCheck({
    attester: signer,
    node: record.node,
    key_id,
    public_key,
    attester_statement,
    message: { chainId: String(sig.domain.chainId) },
  })
  return { check, covers: ['key_id', 'public_key', 'attester_statement'].map((name) => `attestation.${name}`) }
}

/**
 * The key is the node's, and was valid at the time that the attestation names. A thief can name any time, so of a key that
 * was revoked only that counts which a witness had seen before, one that the verifier trusts.
 */
function checkKey(
  { attestation, record }: CitationAttestation,
  logged: LoggedHead | undefined,
  { keys, trusted, source }: ResolvedKeys,
  { policy }: VerifyAttestationOptions,
): Finding {
  const known = keys.get(attestation.key_id)
  if (known?.x !== attestation.public_key || known.purpose !== 'response')
    return { check: failed('keys', `the key does not follow from ${source}`) }
  const provenBy = Math.min(...(logged?.cosignatures.trustedTimes ?? []))
  if (!wasValid(known, Number(attestation.sig.message.time), provenBy))
    return { check: failed('keys', 'the key was not valid when it signed') }
  if (trusted) return { check: passed('keys', `the key follows from ${source}, and was valid when it signed`) }
  const detail = `the key comes from the file itself; whether it is that of ${record.node} is not known`
  return { check: (policy?.keyValid ? failed : notChecked)('keys', detail) }
}

const clockSkewSeconds = 300

function checkAge({ attestation }: CitationAttestation, { policy, nowMs }: VerifyAttestationOptions): Finding[] {
  if (policy?.maxAgeSeconds === undefined) return []
  if (nowMs === undefined) return [{ check: failed('age', 'the policy limits the age, and the time is not known') }]
  const ageSeconds = nowMs / 1000 - Number(attestation.sig.message.time)
  // Written so that a time that is no number fails.
  const fits = ageSeconds >= -clockSkewSeconds && ageSeconds <= policy.maxAgeSeconds
  return [
    {
      check: fits
        ? passed('age', `attested within the last ${policy.maxAgeSeconds} seconds`)
        : failed('age', `attested in the future, or longer than ${policy.maxAgeSeconds} seconds ago`),
    },
  ]
}
