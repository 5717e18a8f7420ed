import { useEffect, useState } from 'preact/hooks'
import type { Exchange } from '../node/ask.ts'
import { shortHex } from './format.ts'
import { Badge } from './parts.tsx'

/** Whether the answer on this page is signed by the node; checked in the browser after it is shown. */
export function Signed({ exchange }: { exchange: Exchange }) {
  const [state, setState] = useState<{ exchange: Exchange; ok: boolean; detail: string }>()
  useEffect(() => {
    let stale = false
    import('../node/verify-exchange.ts')
      .then(({ verifyAnswer }) => verifyAnswer(exchange))
      .then(
        (verified) =>
          stale ||
          setState({
            exchange,
            ok: verified.status === 'verified',
            detail:
              verified.status === 'verified'
                ? `by key ${shortHex(verified.keyId)}`
                : verified.status === 'invalid'
                  ? verified.reason
                  : verified.status,
          }),
        () => stale || setState({ exchange, ok: false, detail: 'could not be checked' }),
      )
    return () => {
      stale = true
    }
  }, [exchange])
  if (state?.exchange !== exchange) return <Badge>checking signature</Badge>
  return state.ok ? (
    <Badge tone="good" title={state.detail}>
      signature verified
    </Badge>
  ) : (
    <Badge tone="bad" title={state.detail}>
      not verified: {state.detail}
    </Badge>
  )
}
