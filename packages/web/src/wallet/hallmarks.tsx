import { useNode } from '../node/context.ts'
import { networkName } from '../node/node-index.ts'
import { shortHex, timeText, usdOfMicro } from '../ui/format.ts'
import { BrokenMark, OctagonMark, OvalMark, ShieldMark } from '../ui/icons.tsx'
import { saveFile } from '../ui/parts.tsx'
import type { Bought } from './order.ts'

const unpaidLabels = {
  none: ['Nothing was charged', 'free, or covered by what you hold'],
  drawn: ['Drawn from your credit', 'no transaction was needed'],
  refused: ['Not paid', 'the node says no money moved'],
  unconfirmed: ['Settlement not confirmed', 'see the payments on the wallet page'],
} as const

/** The marks struck into a bought answer: signature, payment, receipt. */
export function Hallmarks({ bought, fileName }: { bought: Bought; fileName: string }) {
  const index = useNode()
  const { verified, payment, receipt, evidence } = bought
  return (
    <div class="stack tight">
      <ul class="marks" aria-label="What was checked about this answer">
        <li class={`mark ${verified.ok ? 'good' : 'bad'}`}>
          {verified.ok ? <ShieldMark /> : <BrokenMark />}
          <b>{verified.ok ? 'Signature verified' : 'Signature not verified'}</b>
          <span>
            {verified.ok
              ? `key ${shortHex(verified.keyId)}, ${timeText(new Date(verified.created * 1000).toISOString())}`
              : verified.reason}
          </span>
        </li>
        <li class="mark">
          <OctagonMark />
          {payment.status === 'settled' ? (
            <>
              <b>
                {usdOfMicro(payment.amountMicro)} settled on {networkName(index, payment.network)}
              </b>
              <span>transaction {shortHex(payment.transaction)}</span>
            </>
          ) : (
            <>
              <b>{unpaidLabels[payment.status][0]}</b>
              <span>{unpaidLabels[payment.status][1]}</span>
            </>
          )}
        </li>
        {receipt === undefined ? null : (
          <li class={`mark ${receipt.ok ? '' : 'bad'}`}>
            {receipt.ok ? <OvalMark /> : <BrokenMark />}
            <b>{receipt.ok ? 'Receipt verified' : 'Receipt not verified'}</b>
            <span>{receipt.ok ? `signed by key ${shortHex(receipt.keyId)}` : receipt.reason}</span>
          </li>
        )}
      </ul>
      <div class="row">
        <button
          type="button"
          class="button small"
          onClick={() => saveFile(fileName, JSON.stringify(evidence, null, 2))}
        >
          Save the evidence
        </button>
        <span class="small soft">Answer, signature, payment and receipt in one file, to be verified years later.</span>
      </div>
    </div>
  )
}
