import { type Check, ok, warn } from './check.ts'

/** Answers about money take two operators that agree: only a third one lets the node sell while one is down. */
export function checkOperators({ caip2, rpcUrls }: { caip2: string; rpcUrls: readonly string[] }): Check {
  const name = `rpc operators ${caip2}`
  const count = new Set(rpcUrls.map((url) => new URL(url).hostname)).size
  if (count >= 3) return ok(name, `${count} operators, two of which must agree`)
  const detail =
    count === 2
      ? '2 operators: while one is down nothing is sold on this chain, and payouts wait'
      : `${count} operator: what it says about money is believed without a second one`
  return warn(name, detail, 'add endpoints of other operators until there are three')
}
