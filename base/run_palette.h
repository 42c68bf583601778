// The colours that distinguish runs, in the window and in reports: Okabe and Ito's, in
// variants with 3:1 contrast or more against each scheme's surface. The empty one is the text
// colour, for their black.
#pragma once

#include <array>
#include <cstddef>

namespace heddle {

inline constexpr size_t kRunPalette = 8;

/// The markers on runs' strokes, in the order in which runs get them.
inline constexpr std::array<const char*, 6> kRunMarkerNames = {
    "circle", "square", "triangle", "diamond", "triangle down", "cross"};

// Blue, vermilion, bluish green, reddish purple, orange, sky blue, text, yellow.
inline constexpr std::array<const char*, kRunPalette> kDarkRunPalette = {
    "#4f94dc", "#e8702a", "#14ab80", "#d98bb8", "#e69f00", "#7cc7f0", "", "#f0e442"};
inline constexpr std::array<const char*, kRunPalette> kLightRunPalette = {
    "#0072b2", "#d55e00", "#009e73", "#c3709e", "#c48700", "#3f9bd1", "", "#9d9528"};

}  // namespace heddle
