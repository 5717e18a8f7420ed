/** What a node tells models about a paid tool. A program that pays by itself says something else in its place. */
export const unpaidCallText = 'Called without a payment it says its price and takes nothing.'
