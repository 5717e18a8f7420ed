/** Credit whose money arrived at CUSTODY goes back from there. */
export const creditRefundPurpose = 'credit_refund'

/** Credit whose money arrived at PAY_TO goes back from what the operator has put into CUSTODY. */
export const payToRefundPurpose = 'credit_refund_pay_to'

export const creditRefundPurposes: readonly string[] = [creditRefundPurpose, payToRefundPurpose]
