// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {B20Access} from "./B20Access.sol";
import {B20Rules} from "./B20Rules.sol";
import {B20Storage} from "./B20Storage.sol";

/// Stand-in of the native token code: what only the Asset variant has. Runs in the token's storage.
contract B20Asset is B20Access {
    event MultiplierUpdated(uint256 multiplier);
    event ExtraMetadataUpdated(string key, string value);
    event Announcement(address indexed caller, string id, string description, string uri);
    event EndAnnouncement(string id);
    event UIMultiplierUpdated(uint256 oldMultiplier, uint256 newMultiplier, uint256 effectiveAtTimestamp);
    event UIMultiplierUpdateCancelled(uint256 cancelledMultiplier, uint256 cancelledEffectiveAt);

    error AnnouncementIdAlreadyUsed(string id);
    error InvalidMetadataKey();
    error InvalidMultiplier();
    error LengthMismatch(uint256 leftLen, uint256 rightLen);
    error EmptyBatch();
    error AnnouncementInProgress();
    error InternalCallMalformed(bytes call);
    error InternalCallFailed(bytes call);
    error EffectiveAtInPast(uint256 effectiveAt);
    error EffectiveAtTooFar(uint256 effectiveAt);
    error UIMultiplierUpdateExists(uint256 effectiveAt);
    error UIMultiplierUpdateDoesNotExist();

    uint256 private constant WAD = 1e18;
    bytes4 private constant PANIC = 0x4e487b71;

    modifier sinceCobalt() {
        B20Rules.since(B20Rules.COBALT);
        _;
    }

    function OPERATOR_ROLE() external pure returns (bytes32) {
        return OPERATOR;
    }

    function WAD_PRECISION() external pure returns (uint256) {
        return WAD;
    }

    function MAX_UI_MULTIPLIER() external view sinceCobalt returns (uint256) {
        return type(uint128).max;
    }

    // --- reads ---

    function pendingParts() private view returns (uint256 multiplier_, uint256 at) {
        uint256 word = B20Storage.asset().pending;
        return (uint128(word), uint64(word >> 128));
    }

    function current() private view returns (uint256) {
        (uint256 next, uint256 at) = pendingParts();
        if (at != 0 && at <= block.timestamp) return next;
        uint256 set = B20Storage.asset().multiplier;
        return set == 0 ? WAD : set;
    }

    function multiplier() external view returns (uint256) {
        return current();
    }

    function uiMultiplier() external view sinceCobalt returns (uint256) {
        return current();
    }

    function newUIMultiplier() external view sinceCobalt returns (uint256) {
        (uint256 next, uint256 at) = pendingParts();
        return at > block.timestamp ? next : current();
    }

    function effectiveAt() external view sinceCobalt returns (uint256 at) {
        (, at) = pendingParts();
    }

    function scaledBalanceOf(address account) external view returns (uint256) {
        return scaled(B20Storage.token().balances[account]);
    }

    function toScaledBalance(uint256 rawBalance) external view returns (uint256) {
        return scaled(rawBalance);
    }

    function toRawBalance(uint256 scaledBalance) external view returns (uint256) {
        return scaledBalance * WAD / current();
    }

    function balanceOfUI(address account) external view sinceCobalt returns (uint256) {
        return scaled(B20Storage.token().balances[account]);
    }

    function totalSupplyUI() external view sinceCobalt returns (uint256) {
        return scaled(B20Storage.token().totalSupply);
    }

    function toUIAmount(uint256 rawAmount) external view sinceCobalt returns (uint256) {
        return scaled(rawAmount);
    }

    function fromUIAmount(uint256 uiAmount) external view sinceCobalt returns (uint256) {
        return uiAmount * WAD / current();
    }

    function supportsInterface(bytes4 id) external view sinceCobalt returns (bool) {
        return id == 0x01ffc9a7 || id == 0xa60bf13d || id == 0x4bd27648 || id == 0xd890fd71 || id == 0x57854fc3;
    }

    function isAnnouncementIdUsed(string calldata id) external view returns (bool) {
        return B20Storage.asset().usedAnnouncementIds[id];
    }

    function extraMetadata(string calldata key) external view returns (string memory) {
        return B20Storage.asset().extraMetadata[key];
    }

    function scaled(uint256 raw) private view returns (uint256) {
        return raw * current() / WAD;
    }

    // --- changes ---

    function updateMultiplier(uint256 newMultiplier) external {
        checkRole(OPERATOR);
        checkMultiplier(newMultiplier);
        uint256 before = current();
        (uint256 next, uint256 at) = pendingParts();
        B20Storage.asset().multiplier = newMultiplier;
        B20Storage.asset().pending = 0;
        if (at > block.timestamp) emit UIMultiplierUpdateCancelled(next, at);
        emit MultiplierUpdated(newMultiplier);
        if (B20Rules.fork() >= B20Rules.COBALT) emit UIMultiplierUpdated(before, newMultiplier, block.timestamp);
    }

    function updateUIMultiplier(uint256 newMultiplier, uint256 at) external sinceCobalt {
        checkRole(OPERATOR);
        checkMultiplier(newMultiplier);
        if (at <= block.timestamp) revert EffectiveAtInPast(at);
        if (at > type(uint64).max) revert EffectiveAtTooFar(at);
        (, uint256 waiting) = pendingParts();
        if (waiting > block.timestamp) revert UIMultiplierUpdateExists(waiting);
        uint256 before = current();
        B20Storage.asset().multiplier = before;
        B20Storage.asset().pending = newMultiplier | at << 128;
        emit UIMultiplierUpdated(before, newMultiplier, at);
    }

    function cancelUIMultiplierUpdate() external sinceCobalt {
        checkRole(OPERATOR);
        (uint256 next, uint256 at) = pendingParts();
        if (at <= block.timestamp) revert UIMultiplierUpdateDoesNotExist();
        B20Storage.asset().pending = 0;
        emit UIMultiplierUpdateCancelled(next, at);
    }

    function checkMultiplier(uint256 value) private view {
        if (value == 0 || (value > type(uint128).max && B20Rules.fork() >= B20Rules.COBALT)) revert InvalidMultiplier();
    }

    function batchMint(address[] calldata recipients, uint256[] calldata amounts) external {
        checkMay(PAUSE_MINT, MINT);
        if (recipients.length != amounts.length) revert LengthMismatch(recipients.length, amounts.length);
        if (recipients.length == 0) revert EmptyBatch();
        for (uint256 i = 0; i < recipients.length; i++) mintTo(recipients[i], amounts[i]);
    }

    function updateExtraMetadata(string calldata key, string calldata value) external {
        checkRole(METADATA);
        if (bytes(key).length == 0) revert InvalidMetadataKey();
        B20Storage.asset().extraMetadata[key] = value;
        emit ExtraMetadataUpdated(key, value);
    }

    function announce(bytes[] calldata internalCalls, string calldata id, string calldata description, string calldata uri)
        external
    {
        checkRole(OPERATOR);
        B20Storage.Asset storage a = B20Storage.asset();
        if (a.usedAnnouncementIds[id]) revert AnnouncementIdAlreadyUsed(id);
        a.usedAnnouncementIds[id] = true;
        emit Announcement(msg.sender, id, description, uri);
        for (uint256 i = 0; i < internalCalls.length; i++) {
            if (internalCalls[i].length < 4) revert InternalCallMalformed(internalCalls[i]);
            if (bytes4(internalCalls[i][:4]) == this.announce.selector) revert AnnouncementInProgress();
            // The caller stays who it is: an announcement gives no power that its maker does not have.
            (bool ok, bytes memory answer) = B20Rules.TOKEN_CODE.delegatecall(internalCalls[i]);
            if (!ok) passOn(answer, internalCalls[i]);
        }
        emit EndAnnouncement(id);
    }

    /// A failure of the machine stays what it is; a refusal names the call that was refused.
    function passOn(bytes memory answer, bytes calldata call) private pure {
        if (answer.length < 4 || bytes4(answer) != PANIC) revert InternalCallFailed(call);
        assembly ("memory-safe") {
            revert(add(answer, 32), mload(answer))
        }
    }

    fallback() external {
        B20Rules.unknownCall();
    }
}
