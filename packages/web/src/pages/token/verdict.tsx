import type { TokenCheck, TokenVerdict } from '@assay/sdk'
import type { ComponentChildren } from 'preact'
import { useNode } from '../../node/context.ts'
import { explorerUrl } from '../../node/node-index.ts'
import { timeText } from '../../ui/format.ts'
import { Badge, Hex, Notice, Synthetic, type Tone } from '../../ui/parts.tsx'
import { amount, shown } from './event-text.ts'

const verdicts: Record<TokenVerdict, { text: string; tone: Tone }> = {
  LOCKED: { text: 'Locked', tone: 'good' },
  PARTIALLY_CONTROLLED: { text: 'Partially controlled', tone: 'warn' },
  ISSUER_CONTROLLED: { text: 'Issuer controlled', tone: 'bad' },
  UNKNOWN: { text: 'Unknown', tone: 'calm' },
}

/** The verdict as it is struck: one word, one sentence, and the block it holds for. */
export function Verdict({ check, signed }: { check: TokenCheck; signed: ComponentChildren }) {
  const index = useNode()
  const { text, tone } = verdicts[check.verdict]
  return (
    <section class={`verdict ${tone}`} aria-labelledby="verdict">
      <div class="stack tight">
        <p class="row small">
          {/* Names are the issuer's to choose: one that turns the direction of writing turns nothing but itself. */}
          <b>
            <bdi>{shown(check.token.name)}</bdi>
          </b>
          <bdi class="soft">{shown(check.token.symbol)}</bdi>
          <Synthetic of={check.synthetic} />
          {signed}
        </p>
        <h2 id="verdict">{text}</h2>
        <p class="lead">{check.summary}</p>
      </div>
      {check.complete ? null : (
        <Notice tone="warn">
          <strong>Not everything could be read.</strong>
          {check.completeness.missing.map(({ code, detail }) => (
            <p key={code}>{detail}</p>
          ))}
        </Notice>
      )}
      <dl class="facts">
        <dt>Address</dt>
        <dd>
          <Hex value={check.address} href={explorerUrl(index, check.network, 'address', check.address)} />
        </dd>
        <dt>Supply</dt>
        <dd>
          {amount(check.token.total_supply, check.token.decimals)}
          <span class="soft">
            {' '}
            of {check.token.supply_cap === 'none' ? 'no cap' : amount(check.token.supply_cap, check.token.decimals)}
          </span>
        </dd>
        <dt>Read at</dt>
        <dd>
          block {check.block.number} <span class="soft">{timeText(check.block.at)}</span>
        </dd>
        <dt>Holds until</dt>
        <dd>
          {timeText(check.valid_until_at)} <Badge>a verdict ages</Badge>
        </dd>
      </dl>
    </section>
  )
}
