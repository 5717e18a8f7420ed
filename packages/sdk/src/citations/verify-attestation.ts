import { attesterCheck } from '../tokens/verify-report.ts'
import { readDirectory } from '../trusted-keys.ts'
import type { EvidenceReport } from '../verify-evidence.ts'
import { type CitationAttestation, type Finding, failed, guarded, notChecked, passed } from './attestation-file.ts'
import { checkLog, isValidAt } from './check-log.ts'
import { checkRecord, checkSignature } from './check-record.ts'
import { checkShown } from './check-shown.ts'
import { uncoveredFields } from './coverage.ts'
import type { VerifyPolicy } from './policy.ts'

export type VerifyAttestationOptions = {
  /** Keys of the node from another source than the file. */
  trustedDirectory?: unknown
  /** Keys of witnesses you trust, as `name+id+base64`. All must have signed, unless the policy says how many. */
  witnesses?: readonly string[]
  /** Tree heads that you read on chain; the root in hex. */
  anchors?: readonly { size: number; root: string }[]
  /**
   * Decides what is enough. Without one, a file that claims to be logged needs the signature of at least one witness, by a
   * key in the file where you name none.
   */
  policy?: VerifyPolicy | undefined
  /** The time to measure the age by; a policy with an age fails without it. */
  nowMs?: number
}

/** Checks an attestation with nothing but its own bytes and the keys given. */
export async function verifyAttestation(
  file: CitationAttestation,
  options: VerifyAttestationOptions = {},
): Promise<EvidenceReport> {
  const findings = [
    ...(await Promise.all([
      guarded('record', () => checkRecord(file)),
      guarded('signature', () => checkSignature(file)),
      guarded('attester', () => checkAttester(file)),
      guarded('shown', () => checkShown(file)),
      guarded('keys', () => checkKey(file, options)),
    ])),
    ...(await checkLog(file, options)),
    ...checkAge(file, options),
  ]
  const checks = findings.map(({ check }) => check)
  checks.push(notChecked('truth', 'that these bytes were served and paid for is attested, never that they are true'))
  return {
    ok: checks.every((check) => check.status !== 'failed'),
    checks,
    notCovered: uncoveredFields(
      file,
      findings.flatMap(({ covers }) => covers ?? []),
    ),
  }
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

/** The key is the node's, and was valid at the time that the attestation names. */
function checkKey({ attestation, record }: CitationAttestation, options: VerifyAttestationOptions): Finding {
  const { trustedDirectory, policy } = options
  if (trustedDirectory === undefined) {
    const detail = `the key comes from the file itself; whether it is that of ${record.node} is not known`
    return { check: (policy?.keyValid ? failed : notChecked)('keys', detail) }
  }
  const known = readDirectory(trustedDirectory).keys.find((key) => key.keyId === attestation.key_id)
  if (known?.x !== attestation.public_key) return { check: failed('keys', 'the key is not in the given directory') }
  return {
    check: isValidAt(known, Number(attestation.sig.message.time))
      ? passed('keys', 'the key is in the given directory, and was valid when it signed')
      : failed('keys', 'the key was not valid when it signed'),
  }
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
