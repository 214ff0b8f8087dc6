// All of data/images/; needs libpng and libjpeg.
#pragma once

#include "image_folder.hpp"
#include "load_image.hpp"
#include "resize.hpp"
