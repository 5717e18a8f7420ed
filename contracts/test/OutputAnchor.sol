// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Which claims about outputs count, at the slots of the published layout of an anchor state registry.
contract OutputAnchor {
    uint8 private initialized;
    bool private initializing;
    address private pauseSource;
    address public disputeGameFactory;
    address private anchorGame;
    bytes32[2] private startingAnchorRoot;
    mapping(address game => bool) public disputeGameBlacklist;
    uint32 public respectedGameType;
    uint64 public retirementTimestamp;

    constructor(address factory, uint32 gameType) {
        (disputeGameFactory, respectedGameType) = (factory, gameType);
    }

    function blacklist(address game) external {
        disputeGameBlacklist[game] = true;
    }

    function retire() external {
        retirementTimestamp = uint64(block.timestamp);
    }
}
