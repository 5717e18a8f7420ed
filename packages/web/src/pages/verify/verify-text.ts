import { parseJson } from '@assay/protocol/json-object'
import {
  type EvidenceReport,
  fetchDirectory,
  parseEvidence,
  parseTokenReport,
  readDirectory,
  verifyEvidence,
  verifyReceipt,
  verifyTokenReport,
} from '@assay/sdk'
import { ProblemError } from '../../node/problem.ts'

export type Verified = { what: string; node: string; report: EvidenceReport; note?: string }

type Options = {
  /** Keys of today instead of those in the file, where the file is of this node. */
  online: boolean
  node: string
}

/** Finds out what was given, and checks it. */
export async function verifyText(text: string, options: Options): Promise<Verified> {
  const given = text.trim()
  const jws = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(given) ? given : undefined
  const value = jws === undefined ? parseJson(given) : undefined
  const report = parseTokenReport(value)
  if (report !== undefined)
    return withKeys('Report on a token', report.attestation.node, options, (trusted) =>
      verifyTokenReport(report, trusted),
    )
  const evidence = parseEvidence(value)
  if (evidence !== undefined)
    return withKeys(evidence.attestation ? 'Attestation' : 'Answer', evidence.keys.origin, options, (trusted) =>
      verifyEvidence(evidence, trusted),
    )
  const receipt = jws ?? receiptInHeaders(value)
  if (receipt !== undefined) return verifyReceiptText(receipt, options)
  throw new ProblemError({
    title: 'This is nothing the verifier knows.',
    hint: 'It reads evidence files, reports on tokens, attestations and receipts (JWS).',
  })
}

type Trusted = { trustedDirectory?: unknown }

async function withKeys(
  what: string,
  node: string,
  options: Options,
  check: (trusted: Trusted) => Promise<EvidenceReport>,
): Promise<Verified> {
  const origin = new URL(node).origin
  if (!options.online) return { what, node: origin, report: await check({}) }
  // The page may talk with its own node and nobody else.
  if (origin !== new URL(options.node).origin)
    return {
      what,
      node: origin,
      report: await check({}),
      note: `The keys come from the file itself: this page asks no other node than its own. Open the console of ${origin} to compare.`,
    }
  return { what, node: origin, report: await check({ trustedDirectory: await fetchDirectory(origin) }) }
}

async function verifyReceiptText(jws: string, { node }: Options): Promise<Verified> {
  const { origin, host } = new URL(node)
  const keys = new Map(readDirectory(await fetchDirectory(origin)).keys.map((key) => [key.keyId, key]))
  const checked = await verifyReceipt(jws, { keys, authority: host })
  if (checked.status === 'invalid')
    return {
      what: 'Receipt',
      node: origin,
      report: { ok: false, checks: [{ name: 'signature', status: 'failed', detail: checked.reason }] },
    }
  const { receipt, keyId } = checked
  return {
    what: 'Receipt',
    node: origin,
    report: {
      ok: true,
      checks: [
        { name: 'signature', status: 'passed', detail: `signed by key ${keyId}` },
        {
          name: 'bought',
          status: 'passed',
          detail: `${receipt.resourceUrl}, by ${receipt.payer} on ${receipt.network}`,
        },
        { name: 'time', status: 'passed', detail: new Date(receipt.issuedAt * 1000).toISOString() },
        {
          name: 'chain',
          status: 'not_checked',
          detail: `that transaction ${receipt.transaction ?? 'unnamed'} is on chain is for any node of that chain to say`,
        },
      ],
    },
  }
}

function receiptInHeaders(value: unknown): string | undefined {
  const receipt = typeof value === 'object' && value !== null && 'receipt' in value ? value.receipt : undefined
  return typeof receipt === 'string' ? receipt : undefined
}
