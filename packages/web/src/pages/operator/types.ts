import type { OperatorRole } from '@assay/protocol/operator-role'

export type Overview = {
  at: string
  role: OperatorRole
  books: {
    balanced: boolean
    accounts: { group: string; kind: string; unit: string; balance: string; accounts: number }[]
    differences: number
    open_clearing: { account: string; balance: string; payment_id: string | null; since_at: string }[]
  }
  payments: { state: string; payments: number; amount_micro: string; oldest_at: string }[]
  review_open: number
  payouts: {
    id: string
    network: string
    payee: string
    amount_micro: string
    purpose: string
    state: string
    reason: string | null
    transaction: string | null
    created_at: string
  }[]
  withdrawals: Withdrawals
  disputes: OpenDispute[]
  notifications: Notifications | null
  customers: {
    payments: number
    data: { wallet: string; payments: number; amount_micro: string; failed: number; last_at: string }[]
  }
  alarms: { alarm: string; count: number; to_do: string | null }[]
  pauses: Pause[]
  audit: { at: string; actor: string; action: string; subject: string }[]
}

export type Notifications = {
  endpoints: { kind: string; state: string; reason: string; endpoints: number }[]
  deliveries: { kind: string; waiting: number; late_since: string | null; sent_day: number; given_up_day: number }[]
  failing: {
    id: string
    kind: string
    target: string
    failing_since: string
    last_status: string | null
    waiting: number
  }[]
}

export type Pause = {
  name: string
  paused: boolean
  /** What a pause stops, and what goes on beside it. */
  stops: string
  leaves_running: string
  reason: string
  changed_by: string
  changed_at: string
}

export type Withdrawals = {
  custody: {
    network: string
    withdrawable_micro: string
    balance_micro: string
    others_micro: string
    debts_micro: string
    leaving_micro: string
    reserved_micro: string
    checked_at: string
  }[]
  destinations: { network: string; address: string }[]
  newest: {
    id: string
    network: string
    to: string
    asked_micro: string | null
    state: string
    outcome: string | null
    requested_at: string
    payout: { state: string; amount_micro: string; transaction: string | null; reason: string | null } | null
  }[]
}

export type OpenDispute = {
  id: string
  payment_id: string
  payer: string
  text: string
  evidence_bytes: number
  opened_at: string
}
