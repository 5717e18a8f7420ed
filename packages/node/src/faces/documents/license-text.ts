import { royaltyBps } from '../../http/index.ts'

export const ownLicense = 'LicenseRef-Assay-1.0'

const ownText = `${ownLicense}
Licence of the answers of this node

1. What it covers. Every answer of this node that names this licence in its X-X402-License header: its facts, figures, scores, text and their arrangement, as far as any right in them exists.

2. What you may do. You may use the answer for any purpose, keep it, quote it, combine it with other material, and pass it on, in whole or in part, in any form.

3. Attribution. Where you pass an answer on, name the node and the time of the answer, and keep its signature headers with it or say where they can be had, so that others can verify it. Do not present a changed answer as the answer of this node.

4. Royalty. Where you sell an answer, or a product whose price is charged for that answer, ${royaltyBps / 100} % (${royaltyBps} basis points) of what you receive for it is due to the wallet named in the X-X402-Royalty-Recipient header of the answer. Use that earns nothing owes nothing.

5. Sources. Parts of an answer that come from others are named with their source and their own licence; for those parts that licence applies.

6. No warranty. Answers are given as they are, as of the time they state. What is marked unknown is unknown. Nothing in an answer is advice to buy or sell anything. To the extent the law allows, the operator is not liable for damage from their use.

7. End. These permissions end for anyone who breaks sections 3 or 4, and return when the breach is made good within 30 days.
`

/** The text behind the X-X402-License header. An operator's own choice of licence is named, not paraphrased. */
export function licenseText(contentLicense: string): string {
  if (contentLicense === ownLicense) return ownText
  return `The answers of this node are licensed under ${contentLicense}.\nIf it is an SPDX identifier, its text is at https://spdx.org/licenses/${encodeURIComponent(contentLicense)}.html\nRoyalty for reuse: ${royaltyBps} basis points to the wallet in X-X402-Royalty-Recipient.\n`
}
