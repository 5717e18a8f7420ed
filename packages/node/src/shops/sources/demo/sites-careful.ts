import type { DemoSite } from './site.ts'

const full = {
  jsonLd: true,
  authors: true,
  dates: true,
  canonical: true,
  sitemap: true,
  llms: true,
  policies: true,
  contact: true,
}

export const carefulSites: readonly DemoSite[] = [
  {
    domain: 'token-control.test',
    name: 'Token Control Review',
    about: 'How issuers keep, limit and give up control over tokens.',
    proof: 'dns',
    care: { ...full, licence: 'rsl' },
    articles: [
      {
        slug: 'who-can-mint',
        title: 'Who can mint: reading the minter role of a token',
        author: 'Ada Lindqvist',
        ageDays: 12,
        cites: [
          'http://key-custody.test/multisig-admins',
          'http://agent-payments.test/receipts',
          'http://squeeze-desk.test/days-to-cover',
        ],
        paragraphs: [
          'The power to mint decides how many units of a token can ever exist, so it is the first thing to look at. A supply cap written into the contract bounds it; a cap that the administrator can raise does not. Reading the current supply alone says nothing about tomorrow.',
          'A minter role can be held by a person, a contract or nobody. When the holder is a contract, the question moves on to the party that controls that contract, and it must be followed until it ends at keys or at code that nobody can change. Stopping early is the most common error in published reviews.',
          'Roles that were granted and later revoked leave events behind. A review that reads only the present state misses that a second minter existed for a week. We read the whole history of grants and name the block at which each one began and ended.',
        ],
      },
      {
        slug: 'pause-and-freeze',
        title: 'Pausing, freezing and seizing are three different powers',
        author: 'Ada Lindqvist',
        ageDays: 40,
        cites: [
          'http://key-custody.test/timelocks',
          'http://token-control.test/who-can-mint',
          'http://agent-payments.test/finality',
        ],
        paragraphs: [
          'A pause stops every transfer of a token, a freeze stops those of one holder, and a seizure moves units without the consent of anyone who holds them. Issuers of regulated assets often hold all three, and say so. What matters to a holder is who can use them, how quickly, and whether anybody can see it coming.',
          'A policy list that allows or blocks addresses is a freeze with another name. If the list lives in its own contract, its owner has the power, whatever the token contract says about roles. Follow the reference, then the owner, then the owner of the owner.',
          'A delay between announcing and using a power turns a surprise into a notice. Two days are enough for most holders to act; an hour is not. We record the delay that the code enforces, never the one that a web page promises.',
        ],
      },
      {
        slug: 'unknown-is-not-safe',
        title: 'Unknown is not safe: what to write when a fact cannot be read',
        author: 'Jonas Reuter',
        ageDays: 75,
        cites: [
          'http://squeeze-desk.test/data-quality',
          'http://key-custody.test/multisig-admins',
          'http://agent-payments.test/receipts',
        ],
        paragraphs: [
          'A reader who cannot reach a node learns nothing about a token. Writing "no risk found" in that case is false, and yet many tools do it, because an empty answer and a failed question look alike in code that does not tell them apart.',
          'The honest report has three values for every power: present, absent and unknown, and a verdict may never become better because something was unknown. It follows that a report also names the block it was made at, so that two reports can be compared and a third person can repeat them.',
        ],
      },
    ],
  },
  {
    domain: 'squeeze-desk.test',
    name: 'The Squeeze Desk',
    about: 'Short interest, borrow cost and what they do and do not tell.',
    proof: 'file',
    care: { ...full, llms: false, licence: 'cc-by' },
    articles: [
      {
        slug: 'days-to-cover',
        title: 'Days to cover, and why the denominator matters more',
        author: 'Miriam Okafor',
        ageDays: 9,
        cites: [
          'http://token-control.test/unknown-is-not-safe',
          'http://squeeze-desk.test/data-quality',
          'http://agent-payments.test/finality',
        ],
        paragraphs: [
          'Days to cover divides the shares sold short by the average number traded in a day. It estimates how long those who are short would need to buy back if they all had to. In a squeeze the volume is far above its average, so the number that looked alarming in quiet weeks shrinks just when people quote it.',
          'The choice of average changes the ranking: thirty trading days, ninety, or the median. We publish the window with the figure. A figure without its window cannot be compared with anything, not even with itself a month later.',
          'Short interest is collected twice a month and published with a delay of more than a week. Whatever happened since is not in it. A live feed that claims otherwise is showing an estimate, and should say so.',
        ],
      },
      {
        slug: 'borrow-cost',
        title: 'What the cost to borrow tells about a crowded short',
        author: 'Miriam Okafor',
        ageDays: 33,
        cites: [
          'http://squeeze-desk.test/days-to-cover',
          'http://token-control.test/pause-and-freeze',
          'http://agent-payments.test/receipts',
        ],
        paragraphs: [
          'A share that is hard to borrow is dear to borrow. The fee is set by the lender, it is quoted per year, and it can change every day. When it rises while the price does not fall, those who are short pay for waiting, and some of them will stop.',
          'Utilisation is the part of lendable shares that is lent out. At ninety percent and above a recall by one large lender can force purchases on its own. It is a better early sign than the fee, which follows it by days.',
        ],
      },
      {
        slug: 'data-quality',
        title: 'Late, revised, missing: three faults of short data',
        author: 'Tomas Veselý',
        ageDays: 61,
        cites: [
          'http://token-control.test/unknown-is-not-safe',
          'http://squeeze-desk.test/borrow-cost',
          'http://key-custody.test/timelocks',
        ],
        paragraphs: [
          'Official short data arrive late, are revised, and are sometimes missing for a symbol that changed its name. Each of the three faults has to be kept apart: the time a figure is about, the time it became known, and the time it was corrected. A test of a strategy that mixes them up uses tomorrow to trade today.',
          'We keep every version that was ever published and answer each question as of a moment. That costs storage and saves arguments. A missing value is shown as missing; carrying the last one forward would turn a gap into a fact.',
        ],
      },
    ],
  },
  {
    domain: 'agent-payments.test',
    name: 'Agent Payments Notes',
    about: 'How software pays software, per call and without accounts.',
    proof: 'meta',
    care: { ...full, licence: 'cc-by', llms: true },
    articles: [
      {
        slug: 'receipts',
        title: 'A receipt is worth what it binds',
        author: 'Li Wen',
        ageDays: 5,
        cites: [
          'http://token-control.test/who-can-mint',
          'http://agent-payments.test/finality',
          'http://squeeze-desk.test/data-quality',
        ],
        paragraphs: [
          'When an agent pays for an answer, three things should be tied together: the request as it was sent, the money that moved, and the bytes that came back. A receipt that names only the amount proves that somebody paid somebody. It does not prove what was bought.',
          'Binding the payment to the method, the address, the query and a digest of the body makes a copy of it useless for any other request. The seller signs the answer, the buyer keeps both, and a third person can check them years later without asking either.',
          'A payment header that can be replayed is a key to somebody else\u2019s cluster. One payment must serve once, wherever and whenever its copy turns up, and the place to decide that is a unique row in a database and not a set in memory.',
        ],
      },
      {
        slug: 'finality',
        title: 'Finality for people in a hurry',
        author: 'Li Wen',
        ageDays: 25,
        cites: [
          'http://agent-payments.test/receipts',
          'http://key-custody.test/timelocks',
          'http://token-control.test/pause-and-freeze',
        ],
        paragraphs: [
          'A transfer in a block is likely to stay; a transfer in a finalised block will. Between the two lie seconds to minutes in which a reorganisation can take money back that was already counted. For a tenth of a cent nobody should wait. For a month of a stream somebody should.',
          'The sensible rule is to sell small things at inclusion, to grant large things at once but revocably, and to pay nobody out of money that is not final. The sum of what is served and not yet final is a number worth watching, and worth a limit.',
        ],
      },
    ],
  },
]
