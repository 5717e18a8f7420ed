import { type BenchTerms, signPayments } from './sign-payments.ts'

/** Requests a load is made of; built before the clock runs, or so cheap that it does not matter. */
export type RequestPlan =
  | { kind: 'same'; host: string; target: string }
  /** `{n}` in the target is replaced by 40 hex digits that never repeat. */
  | { kind: 'distinct'; host: string; target: string }
  | { kind: 'paid'; host: string; target: string; count: number; terms: BenchTerms }

/** Undefined ends the load. */
export type NextRequest = () => Buffer | undefined

export function requestText(host: string, target: string, headers = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\nUser-Agent: bench\r\n${headers}\r\n`
}

export function openRequests(plan: RequestPlan): NextRequest {
  if (plan.kind === 'same') {
    const request = Buffer.from(requestText(plan.host, plan.target))
    return () => request
  }
  if (plan.kind === 'distinct') return distinctRequests(plan.host, plan.target)
  const requests = signPayments(plan.terms, plan.count).map((header) =>
    Buffer.from(requestText(plan.host, plan.target, `PAYMENT-SIGNATURE: ${header}\r\n`)),
  )
  let next = 0
  return () => requests[next++]
}

const counterDigits = 40
let counter = 0

function distinctRequests(host: string, target: string): NextRequest {
  const [before, after] = requestText(host, target).split('{n}') as [string, string]
  return () => {
    counter += 1
    return Buffer.from(before + counter.toString(16).padStart(counterDigits, '0') + after, 'latin1')
  }
}
