import { tryCanonicalJson } from '../canonical-json.ts'
import { isRecord } from '../json-object.ts'
import { attestTypes } from '../typed-data/eas.ts'
import { type CitationAttestation, type Finding, failed, passed } from './attestation-file.ts'
import { addressOf } from './check-record.ts'

type Field = { path: string; shown: unknown; signed: unknown }

/** What the file shows beside the record must follow from the record. */
export function checkShown(file: CitationAttestation): Finding {
  const payouts = payoutFields(file)
  if (!payouts) return { check: failed('shown', 'the payouts are not those of the record') }
  const fields = [...plainFields(file), ...payouts]
  const none = payouts.length === 0 ? ['payouts'] : []
  const differing = fields.filter(
    ({ shown, signed }) => signed === undefined || tryCanonicalJson(shown) !== tryCanonicalJson(signed),
  )
  if (differing.length > 0)
    return { check: failed('shown', `not what was signed: ${differing.map(({ path }) => path).join(', ')}`) }
  return {
    check: passed('shown', 'what the file shows beside the record follows from it'),
    covers: [...none, ...fields.flatMap(({ path }) => [path, `${path}.**`])],
  }
}

function plainFields(file: CitationAttestation): Field[] {
  const { record } = file
  const shown = file as unknown as Record<string, unknown>
  const sig = file.attestation.sig as unknown as Record<string, unknown>
  const split = isRecord(shown.split) ? shown.split : {}
  const amounts =
    record.type === 'assay.royalty/v1'
      ? [{ path: 'royalty_micro', shown: shown.royalty_micro, signed: record.royalty_micro }]
      : ['price_micro', 'creator_micro', 'toll_micro'].map((name) => ({
          path: `split.${name}`,
          shown: split[name],
          signed: record[name],
        }))
  return [
    { path: 'id', shown: file.id, signed: record.id },
    { path: 'url', shown: shown.url, signed: addressOf(file) },
    { path: 'attestation.sig.version', shown: sig.version, signed: file.attestation.sig.message.version },
    { path: 'attestation.sig.primaryType', shown: sig.primaryType, signed: 'Attest' },
    { path: 'attestation.sig.types', shown: sig.types, signed: attestTypes },
    ...amounts,
  ]
}

type Share = { domain: unknown; wallet: unknown; micro: unknown }

/** Undefined when these are not the payouts of the record. Their state is news of the node, and signed by nobody. */
function payoutFields(file: CitationAttestation): Field[] | undefined {
  const { payouts } = file as unknown as { payouts: unknown }
  if (!Array.isArray(payouts) || !payouts.every(isRecord)) return undefined
  const common = payouts.flatMap((payout, index) => commonFields(file, payout, `payouts[${index}]`))
  if (file.record.type === 'assay.royalty/v1') {
    const sum = payouts.reduce((total, { micro }) => total + BigInt(String(micro)), 0n)
    if (String(sum) !== file.record.creator_micro) return undefined
    return [
      ...common,
      ...payouts.map(({ micro }, index) => ({ path: `payouts[${index}].micro`, shown: micro, signed: String(micro) })),
    ]
  }
  const shares = sharesOf(file.record)
  if (shares.length !== payouts.length) return undefined
  return [
    ...common,
    ...payouts.flatMap((payout, index) => shareFields(payout, shares[index] as Share, `payouts[${index}]`)),
  ]
}

function commonFields({ record }: CitationAttestation, payout: Record<string, unknown>, path: string): Field[] {
  const { wallet } = payout
  const follow = typeof wallet === 'string' ? `${record.node}/v1/creators/${wallet}` : null
  return [
    { path: `${path}.network`, shown: payout.network, signed: record.network },
    { path: `${path}.follow`, shown: payout.follow, signed: follow },
  ]
}

function shareFields(payout: Record<string, unknown>, share: Share, path: string): Field[] {
  const { domain, wallet } = payout
  const fields = [{ path: `${path}.micro`, shown: payout.micro, signed: share.micro }]
  // A source above may answer for the page, and an owner may be found after the record was signed: neither is signed.
  const above = typeof domain === 'string' && domain.includes('.') && String(share.domain).endsWith(`.${domain}`)
  if (!above) fields.push({ path: `${path}.domain`, shown: domain, signed: share.domain })
  if (share.wallet !== null || wallet === null)
    fields.push({ path: `${path}.wallet`, shown: wallet, signed: share.wallet })
  return fields
}

/** The parts of the price that the record names; a part of nothing is not paid out. */
function sharesOf(record: CitationAttestation['record']): Share[] {
  const pages = Array.isArray(record.sources) ? record.sources.filter(isRecord) : [record]
  return pages
    .map((page) => ({ domain: page.domain, wallet: page.creator_wallet, micro: page.creator_micro }))
    .filter(({ micro }) => micro !== '0')
}
