// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IERC165 {
    function supportsInterface(bytes4 interfaceId) external view returns (bool);
}

/// EIP-2981.
interface IERC2981 is IERC165 {
    function royaltyInfo(uint256 tokenId, uint256 salePrice)
        external
        view
        returns (address receiver, uint256 royaltyAmount);
}

/// The royalty this node declares for what is made from its answers, as the API gives it: one recipient, one rate.
contract RoyaltyTerms is IERC2981 {
    address public immutable recipient;
    uint256 public immutable bps;

    error RateTooHigh();

    constructor(address recipient_, uint256 bps_) {
        if (bps_ > 10_000) revert RateTooHigh();
        recipient = recipient_;
        bps = bps_;
    }

    function royaltyInfo(uint256, uint256 salePrice) external view returns (address, uint256) {
        // Whole and rest apart: no price is too large to be multiplied, and the floor is the same.
        return (recipient, (salePrice / 10_000) * bps + ((salePrice % 10_000) * bps) / 10_000);
    }

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(IERC2981).interfaceId || interfaceId == type(IERC165).interfaceId;
    }
}
